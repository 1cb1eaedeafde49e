import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../src/platform/clock';
import type { PatientClient } from './client';
import { playTow, type Story } from './crew';
import { wreak, type Havoc } from './havoc';
import { livesOf } from './lives';
import type { ServiceRecord } from './record';
import { scheduleOf } from './schedule';
import type { Stage } from './stage';
import { wakeForNothing } from './stray';

export interface StormTools {
  readonly client: PatientClient;
  readonly record: ServiceRecord;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** When to give up, by the clock that never jumps. */
  readonly untilMs: number;
  /** Called for every tow of which the crew has said everything. */
  readonly told: () => void;
}

/** One round of a run: tows that arrive during a storm. */
export interface Round {
  readonly seed: number;
  readonly tows: number;
  /** Tows of the rounds before. */
  readonly first: number;
  readonly stormMs: number;
  /** The fewest repeated calls at which the storm may end. */
  readonly repeatsLeast: number;
}

/** The outcome of a storm. */
export interface Stormed {
  readonly stories: readonly Story[];
  readonly havoc: Havoc;
  readonly strayWakeUps: number;
}

/** Plays a round; resolves when the crews have reported every fact and every process runs again. */
export async function rideOut(
  stage: Stage,
  { seed, tows, first, stormMs, repeatsLeast }: Round,
  tools: StormTools,
): Promise<Stormed> {
  const refs: string[] = [];
  const violationIds: string[] = [];
  const over = new AbortController();
  const signal = AbortSignal.any([tools.signal, over.signal]);
  let count = 0;
  const living = livesOf(seed, tows, stormMs, first).map(async (life, index) => {
    await pause(life.arrivesAtMs, undefined, { signal: tools.signal });
    const story = await playTow(life, first + index, {
      ...tools,
      ordered: (ref) => refs.push(ref),
      reported: (id) => violationIds.push(id),
    });
    count += 1;
    tools.told();
    return story;
  });
  const straying = wakeForNothing({ ...stage, ...tools, seed, refs, violationIds, signal });
  // Whoever awaits it hears of a failure.
  straying.catch(() => {});
  const tooLong = pause(tools.untilMs - tools.clock.monotonicMs(), undefined, { signal }).then(() =>
    Promise.reject(new Error(`only ${count} of ${tows} tows could be told in time`)),
  );
  try {
    const [stories, havoc] = await Promise.race([
      Promise.all([Promise.all(living), wreak(scheduleOf(seed, stormMs), { ...stage, ...tools, repeatsLeast })]),
      tooLong,
    ]);
    over.abort();
    return { stories, havoc, strayWakeUps: await straying };
  } finally {
    over.abort();
  }
}
