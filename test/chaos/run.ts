import { setMaxListeners } from 'node:events';
import { systemClock } from '../../src/platform/clock';
import { createPatientClient } from './client';
import type { ConservationView } from '../../src/contracts/conservation';
import type { DeliveryFindings } from './deliveries';
import type { Story } from './crew';
import { NO_HAVOC, sumOf, type Havoc } from './havoc';
import { judge, type Judged, type Seen } from './judge';
import { createPerson, type Person, type PersonDecision } from './person';
import type { ViolationDecision } from './person-violations';
import { openRecord, type ServiceRecord } from './record';
import { restOf } from './rest';
import type { SettledFindings } from './settled';
import { setStage, type Stage } from './stage';
import { rideOut, type Round } from './storm';
import { brokenPromisesOf, retriesLeast, shortfallsOf } from './verdict';
import { watchWalks } from './walks';

export interface RunOptions {
  readonly seed: number;
  /** Tows of the first round. */
  readonly tows: number;
  /** For how long tows are ordered and processes are killed and frozen in the first round. */
  readonly stormMs: number;
  /** Ends a run that hangs. */
  readonly limitMs: number;
  /** Ends the run early; it rejects then, with nothing left behind. */
  readonly signal: AbortSignal;
  /** Told now and then how far it is. */
  readonly show: (line: string) => void;
}

/** Everything a run found out, for the verdict and for the reader. */
export interface Findings extends Judged {
  readonly seconds: number;
  readonly rounds: number;
  /** Tows ordered in all rounds, and those of them that came to their end. */
  readonly played: number;
  readonly finished: number;
  readonly havoc: Havoc;
  readonly deliveries: DeliveryFindings;
  readonly settled: SettledFindings;
  /** What towhook's own walks found lost, at any moment; and how many of them were seen. */
  readonly walks: { readonly seen: number; readonly lost: number };
  /** Its last walk, begun when everything was at rest; null when none came in time. */
  readonly walk: ConservationView | null;
  readonly decisions: readonly PersonDecision[];
  readonly violationDecisions: readonly ViolationDecision[];
  readonly tasksSeen: ReadonlyMap<string, number>;
  readonly repeatedPosts: ReadonlyMap<string, number>;
  readonly strayWakeUps: number;
  /** Where the logs of the roles are; gone when there are no problems. */
  readonly folder: string;
}

/** What is known when a round has come to rest. */
export type FindingsSoFar = Omit<Findings, 'seconds' | 'folder'>;

const SHOW_EVERY_MS = 5000;
const EXTRA_TOWS_MIN = 60;
const EXTRA_STORM_MS = 12_000;

/**
 * Plays a whole run: starts everything, plays rounds until every minimum of the verdict is reached, ends what it started.
 */
export async function runChaos(options: RunOptions): Promise<Findings> {
  const startedMs = systemClock.monotonicMs();
  const ending = new AbortController();
  const stage = await setStage(options.seed);
  let outcome: FindingsSoFar | null = null;
  let ends: string[] = [];
  try {
    outcome = await play(stage, options, AbortSignal.any([options.signal, ending.signal]));
  } finally {
    ending.abort();
    const isOfInterest = outcome === null ? !options.signal.aborted : outcome.problems.length > 0;
    ends = await stage.end({ keepFolder: isOfInterest });
  }
  const ownEnds = stage.actors.flatMap(({ ownEnds: each }) => each);
  return {
    ...outcome,
    problems: [...outcome.problems, ...ownEnds, ...ends],
    folder: stage.folder,
    seconds: (systemClock.monotonicMs() - startedMs) / 1000,
  };
}

async function play(stage: Stage, options: RunOptions, signal: AbortSignal): Promise<FindingsSoFar> {
  // Everything that waits, waits for the end, too.
  setMaxListeners(0, signal);
  const untilMs = systemClock.monotonicMs() + options.limitMs;
  const client = createPatientClient({ ...stage, signal });
  const record = openRecord(stage.simulatorUrl);
  const tools = { client, record, clock: systemClock, signal, untilMs };
  const person = createPerson(tools);
  const walks = watchWalks(tools);
  const working = Promise.all([person.work(), walks.watch()]);
  const progress = { phase: 'storm', told: 0, finished: 0 };
  const show = setInterval(() => {
    const { phase, told, finished } = progress;
    const decided = person.decisions.length + person.violationDecisions.length;
    options.show(`${phase}: ${told} tows told, ${finished} at rest, ${decided} decisions of a person`);
  }, SHOW_EVERY_MS);
  const stories: Story[] = [];
  let havoc = NO_HAVOC;
  let strayWakeUps = 0;
  const playRound = async (round: Round) => {
    const stormed = await Promise.race([
      rideOut(stage, round, { ...tools, told: () => (progress.told += 1) }),
      working.then(() => Promise.reject(new Error('the person at the desk and the watch over the walks stopped'))),
    ]);
    stories.push(...stormed.stories);
    havoc = sumOf(havoc, stormed.havoc);
    strayWakeUps += stormed.strayWakeUps;
    progress.phase = 'rest';
    return restOf(stories, { ...tools, ...stage, walks, tick: (count) => (progress.finished = count) });
  };
  try {
    for (let rounds = 1, round = firstRound(options); ; rounds += 1, round = nextRound(round, options)) {
      const rest = await playRound(round);
      const { decisions, violationDecisions, tasksSeen, refusals } = person;
      const judged = judge(stories, await seenBy(record, person));
      const findings = {
        ...judged,
        rounds,
        played: stories.length,
        finished: rest.finished,
        havoc,
        strayWakeUps,
        deliveries: rest.deliveries,
        settled: rest.settled,
        walk: rest.walk,
        walks: { seen: walks.seen(), lost: walks.lostNames.size },
        decisions,
        violationDecisions,
        tasksSeen,
        repeatedPosts: client.repeats,
        problems: [...refusals, ...rest.problems, ...judged.problems],
      };
      const shortfalls = shortfallsOf(findings, options.tows);
      const hasTime = systemClock.monotonicMs() + round.stormMs < untilMs;
      if (shortfalls.length === 0 || brokenPromisesOf(findings).length > 0 || !hasTime) return findings;
      options.show(`another round: ${shortfalls.join('; ')}`);
      progress.phase = `storm of round ${rounds + 1}`;
    }
  } finally {
    clearInterval(show);
  }
}

function firstRound({ seed, tows, stormMs }: RunOptions): Round {
  return { seed, tows, stormMs, first: 0, repeatsLeast: retriesLeast(tows) };
}

/** A short round with a schedule of its own, decided by the seed of the run as well. */
function nextRound(round: Round, { tows }: RunOptions): Round {
  return {
    seed: round.seed + 1,
    tows: Math.max(EXTRA_TOWS_MIN, Math.ceil(tows / 10)),
    first: round.first + round.tows,
    stormMs: EXTRA_STORM_MS,
    repeatsLeast: round.repeatsLeast,
  };
}

async function seenBy(record: ServiceRecord, { decisions, violationDecisions }: Person): Promise<Seen> {
  const [calls, webhooks] = [await record.calls(), await record.webhooks()];
  const [violations, orders] = [await record.violations(), await record.orders()];
  return { calls, webhooks, violations, orders, decisions, violationDecisions };
}
