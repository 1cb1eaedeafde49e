import { setMaxListeners } from 'node:events';
import { systemClock } from '../../src/platform/clock';
import { createPatientClient } from './client';
import type { ConservationView } from '../../src/contracts/conservation';
import type { DeliveryFindings } from './deliveries';
import type { Havoc } from './havoc';
import { judge, type Judged, type Seen } from './judge';
import { createPerson, type Person, type PersonDecision } from './person';
import type { ViolationDecision } from './person-violations';
import { openRecord, type ServiceRecord } from './record';
import { restOf } from './rest';
import type { SettledFindings } from './settled';
import { setStage, type Stage } from './stage';
import { rideOut } from './storm';
import { watchWalks } from './walks';

export interface RunOptions {
  readonly seed: number;
  readonly tows: number;
  /** For how long tows are ordered and blows are dealt; then everything may come to rest. */
  readonly stormMs: number;
  /** What is not at rest this long after the start is lost. */
  readonly limitMs: number;
  /** Ends the run early; it rejects then, with nothing left behind. */
  readonly signal: AbortSignal;
  /** Told now and then how far it is. */
  readonly show: (line: string) => void;
}

/** Everything a run found out, for the verdict and for the reader. */
export interface Findings extends Judged {
  readonly seconds: number;
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

const SHOW_EVERY_MS = 5000;

/** Plays a whole run: sets the stage, lets tows and blows happen, waits for rest, judges, ends everything it started. */
export async function runChaos(options: RunOptions): Promise<Findings> {
  const startedMs = systemClock.monotonicMs();
  const ending = new AbortController();
  const stage = await setStage(options.seed);
  let outcome: Omit<Findings, 'seconds' | 'folder'> | null = null;
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

async function play(stage: Stage, options: RunOptions, signal: AbortSignal) {
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
    options.show(
      `${phase}: ${told} of ${options.tows} tows told, ${finished} at rest, ${decided} decisions of a person`,
    );
  }, SHOW_EVERY_MS);
  try {
    const stormed = rideOut(stage, options, { ...tools, told: () => (progress.told += 1) });
    const { stories, havoc, strayWakeUps } = await Promise.race([
      stormed,
      working.then(() => Promise.reject(new Error('the person at the desk and the watch over the walks stopped'))),
    ]);
    progress.phase = 'rest';
    const rest = await restOf(stories, {
      ...tools,
      ...stage,
      walks,
      tick: (count) => (progress.finished = count),
    });
    const { decisions, violationDecisions, tasksSeen, refusals } = person;
    const judged = judge(stories, await seenBy(record, person));
    return {
      ...judged,
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
  } finally {
    clearInterval(show);
  }
}

async function seenBy(record: ServiceRecord, { decisions, violationDecisions }: Person): Promise<Seen> {
  const [calls, webhooks] = [await record.calls(), await record.webhooks()];
  const [violations, orders] = [await record.violations(), await record.orders()];
  return { calls, webhooks, violations, orders, decisions, violationDecisions };
}
