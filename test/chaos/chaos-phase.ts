import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import type { RetryingClient } from './client';
import { playTow, type PlayedTow } from './field-crew';
import { injectFaults, type ProcessFaults } from './fault-injector';
import { towScenariosOf } from './tow-scenarios';
import type { ServiceRecord } from './record';
import { scheduleOf } from './schedule';
import type { ChaosEnvironment } from './environment';
import { addSpuriousJobs } from './spurious-jobs';

export interface ChaosPhaseTools {
  readonly client: RetryingClient;
  readonly record: ServiceRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, on the monotonic clock. */
  readonly untilMs: number;
  /** Whether fault injection goes on after the planned faults. */
  readonly needsMoreFaults: () => Promise<boolean>;
  /** Called for every tow whose facts are all recorded. */
  readonly completed: () => void;
}

/** One round of a run: tows that are ordered while faults are injected. */
export interface ChaosRound {
  readonly seed: number;
  readonly tows: number;
  /** Number of tows in the earlier rounds. */
  readonly first: number;
  readonly chaosMs: number;
}

export interface ChaosPhaseResult {
  readonly playedTows: readonly PlayedTow[];
  readonly processFaults: ProcessFaults;
  readonly spuriousJobs: number;
}

/** Plays a round. Resolves when all facts are recorded and every process runs again. */
export async function runChaosPhase(
  environment: ChaosEnvironment,
  { seed, tows, first, chaosMs }: ChaosRound,
  tools: ChaosPhaseTools,
): Promise<ChaosPhaseResult> {
  const refs: string[] = [];
  const violationIds: string[] = [];
  const over = new AbortController();
  const signal = AbortSignal.any([tools.signal, over.signal]);
  let count = 0;
  const playing = towScenariosOf(seed, tows, chaosMs, first).map(async (scenario, index) => {
    await pause(scenario.arrivesAtMs, undefined, { signal: tools.signal });
    const played = await playTow(scenario, first + index, {
      ...tools,
      ordered: (ref) => refs.push(ref),
      reported: (id) => violationIds.push(id),
    });
    count += 1;
    tools.completed();
    return played;
  });
  const adding = addSpuriousJobs({ ...environment, ...tools, seed, refs, violationIds, signal });
  // Awaited below; this prevents an unhandled rejection until then.
  adding.catch(() => {});
  const tooLong = pause(tools.untilMs - tools.clock.monotonicMs(), undefined, { signal }).then(() =>
    Promise.reject(new Error(`only ${count} of ${tows} tows could be recorded in time`)),
  );
  try {
    const [playedTows, processFaults] = await Promise.race([
      Promise.all([Promise.all(playing), injectFaults(scheduleOf(seed, chaosMs), { ...environment, ...tools })]),
      tooLong,
    ]);
    over.abort();
    return { playedTows, processFaults, spuriousJobs: await adding };
  } finally {
    over.abort();
  }
}
