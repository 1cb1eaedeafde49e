import { setMaxListeners } from 'node:events';
import { systemClock } from '../../src/platform/clock';
import { createRetryingClient } from './client';
import type { ConservationView } from '../../src/contracts/ops/conservation';
import type { DeliveryFindings } from './deliveries';
import type { PlayedTow } from './field-crew';
import { NO_PROCESS_FAULTS, sumOf, type ProcessFaults } from './fault-injector';
import { judge, type Judgement, type ServiceObservations } from './judge';
import { createDispatcher, type Dispatcher, type ReportDecision } from './dispatcher';
import type { DispatcherViolationDecision } from './dispatcher-violations';
import { openRecord, type ServiceRecord } from './record';
import { awaitFinalState } from './final-state';
import type { SettledFindings } from './settled';
import { startEnvironment, type ChaosEnvironment } from './environment';
import { runChaosPhase, type ChaosRound } from './chaos-phase';
import { brokenPromisesOf, missingCoverageOf, needsMoreFaults } from './verdict';
import { watchScans } from './conservation-scans';

export interface ChaosOptions {
  readonly seed: number;
  /** Number of tows in the first round. */
  readonly tows: number;
  /** How long tows are ordered and faults are injected in the first round. */
  readonly chaosMs: number;
  /** Ends a run that hangs. */
  readonly limitMs: number;
  /** Ends the run early: it rejects and leaves nothing behind. */
  readonly signal: AbortSignal;
  /** The program of each process that starts; by default that of this version. */
  readonly programOf?: () => string;
  /** Runs beside the play until the signal; resolves with its problems before the environment ends. */
  readonly beside?: (environment: ChaosEnvironment, signal: AbortSignal) => Promise<readonly string[]>;
  /** Called with the progress every few seconds. */
  readonly show: (line: string) => void;
}

/** All results of a run. */
export interface ChaosFindings extends Judgement {
  readonly seconds: number;
  readonly rounds: number;
  /** Tows that were ordered in all rounds, and those that finished. */
  readonly played: number;
  readonly finished: number;
  readonly processFaults: ProcessFaults;
  readonly deliveries: DeliveryFindings;
  readonly settled: SettledFindings;
  /** The conservation checks that were read, and the ids that any of them reported as lost. */
  readonly scans: { readonly seen: number; readonly lost: number };
  /** The conservation check after the end; null when none ended in time. */
  readonly lastScan: ConservationView | null;
  readonly decisions: readonly ReportDecision[];
  readonly violationDecisions: readonly DispatcherViolationDecision[];
  readonly tasksSeen: ReadonlyMap<string, number>;
  readonly repeatedPosts: ReadonlyMap<string, number>;
  readonly spuriousJobs: number;
  /** The folder of the logs; removed when there are no problems. */
  readonly folder: string;
}

/** The results when a round has ended. */
export type FindingsOfRound = Omit<ChaosFindings, 'seconds' | 'folder'>;

const SHOW_EVERY_MS = 5000;
const EXTRA_TOWS_MIN = 60;
const EXTRA_CHAOS_MS = 12_000;

/**
 * Runs everything: starts the environment, plays rounds until the required coverage is reached, ends what it started.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosFindings> {
  const startedMs = systemClock.monotonicMs();
  const ending = new AbortController();
  const environment = await startEnvironment(options.seed, options.programOf);
  let outcome: FindingsOfRound | null = null;
  let ends: string[] = [];
  let besides: readonly string[] = [];
  const beside = options.beside?.(environment, ending.signal) ?? Promise.resolve([]);
  try {
    outcome = await play(environment, options, AbortSignal.any([options.signal, ending.signal]));
  } finally {
    ending.abort();
    besides = await beside;
    const isOfInterest = outcome === null ? !options.signal.aborted : outcome.problems.length > 0;
    ends = await environment.end({ keepFolder: isOfInterest });
  }
  const unexpectedEnds = environment.roles.flatMap(({ unexpectedEnds: each }) => each);
  return {
    ...outcome,
    problems: [...outcome.problems, ...besides, ...unexpectedEnds, ...ends],
    folder: environment.folder,
    seconds: (systemClock.monotonicMs() - startedMs) / 1000,
  };
}

async function play(
  environment: ChaosEnvironment,
  options: ChaosOptions,
  signal: AbortSignal,
): Promise<FindingsOfRound> {
  // Every wait of the run listens to this signal.
  setMaxListeners(0, signal);
  const untilMs = systemClock.monotonicMs() + options.limitMs;
  const client = createRetryingClient({ ...environment, signal });
  const record = openRecord(environment.simulatorUrl);
  const tools = { client, record, clock: systemClock, signal, untilMs };
  const dispatcher = createDispatcher(tools);
  const scans = watchScans({ ...tools, redisUrl: environment.redisUrl });
  const working = Promise.all([dispatcher.work(), scans.watch()]);
  const progress = { phase: 'faults', completed: 0, finished: 0 };
  const show = setInterval(() => {
    const { phase, completed, finished } = progress;
    const decided = dispatcher.decisions.length + dispatcher.violationDecisions.length;
    options.show(`${phase}: ${completed} tows recorded, ${finished} finished, ${decided} decisions`);
  }, SHOW_EVERY_MS);
  const playedTows: PlayedTow[] = [];
  let processFaults = NO_PROCESS_FAULTS;
  let spuriousJobs = 0;
  const playRound = async (round: ChaosRound) => {
    const phase = await Promise.race([
      runChaosPhase(environment, round, {
        ...tools,
        needsMoreFaults: async () => {
          const [calls, webhooks] = [await record.calls(), await record.webhooks()];
          return needsMoreFaults({ calls, webhooks, violationDecisions: dispatcher.violationDecisions }, options.tows);
        },
        completed: () => (progress.completed += 1),
      }),
      working.then(() => Promise.reject(new Error('the dispatcher or the reading of the conservation checks stopped'))),
    ]);
    playedTows.push(...phase.playedTows);
    processFaults = sumOf(processFaults, phase.processFaults);
    spuriousJobs += phase.spuriousJobs;
    progress.phase = 'rest';
    return awaitFinalState(playedTows, {
      ...tools,
      ...environment,
      scans,
      tick: (count) => (progress.finished = count),
    });
  };
  try {
    for (let rounds = 1, round = firstRound(options); ; rounds += 1, round = nextRound(round, options)) {
      const rest = await playRound(round);
      const { decisions, violationDecisions, tasksSeen, refusals } = dispatcher;
      const judged = judge(playedTows, await observationsOf(record, dispatcher));
      const findings = {
        ...judged,
        rounds,
        played: playedTows.length,
        finished: rest.finished,
        processFaults,
        spuriousJobs,
        deliveries: rest.deliveries,
        settled: rest.settled,
        lastScan: rest.lastScan,
        scans: { seen: scans.seen(), lost: scans.lostNames.size },
        decisions,
        violationDecisions,
        tasksSeen,
        repeatedPosts: client.repeats,
        problems: [...refusals, ...rest.problems, ...judged.problems],
      };
      const missingCoverage = missingCoverageOf(findings, options.tows);
      const hasTime = systemClock.monotonicMs() + round.chaosMs < untilMs;
      if (missingCoverage.length === 0 || brokenPromisesOf(findings).length > 0 || !hasTime) return findings;
      options.show(`another round: ${missingCoverage.join('; ')}`);
      progress.phase = `faults of round ${rounds + 1}`;
    }
  } finally {
    clearInterval(show);
  }
}

function firstRound({ seed, tows, chaosMs }: ChaosOptions): ChaosRound {
  return { seed, tows, chaosMs, first: 0 };
}

/** A short round with its own schedule, also derived from the seed of the run. */
function nextRound(round: ChaosRound, { tows }: ChaosOptions): ChaosRound {
  return {
    seed: round.seed + 1,
    tows: Math.max(EXTRA_TOWS_MIN, Math.ceil(tows / 10)),
    first: round.first + round.tows,
    chaosMs: EXTRA_CHAOS_MS,
  };
}

async function observationsOf(
  record: ServiceRecord,
  { decisions, violationDecisions }: Dispatcher,
): Promise<ServiceObservations> {
  const [calls, webhooks] = [await record.calls(), await record.webhooks()];
  const [violations, orders] = [await record.violations(), await record.orders()];
  return { calls, webhooks, violations, orders, decisions, violationDecisions };
}
