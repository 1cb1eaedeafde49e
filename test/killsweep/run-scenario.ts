import { eventually } from '../support/eventually';
import { drain } from './drain';
import type { TestBed } from './test-bed';
import { outcomeOf, type SweepOutcome } from './outcome';
import type { Scenario, Stage } from './scenario';
import { createSteps, type Interruption, type SweepStep } from './steps';
import { entriesInFlight, makeAllDue } from './stored';
import { openWorker, type Worker } from './worker';

/** One run of a scenario. */
export interface Run {
  /** The steps that the first worker took, including the interrupted one. */
  readonly steps: readonly SweepStep[];
  readonly wasInterrupted: boolean;
  /** The entries that had an attempt under way when the worker was interrupted. */
  readonly inFlight: readonly string[];
  /** Those of them that another worker took over before their lease had ended. */
  readonly takenOver: readonly string[];
  /** The records that only went on when a lease had ended. */
  readonly leasesEnded: readonly string[];
  /** Jobs of the first worker that ended with an error. */
  readonly failures: readonly string[];
  readonly outcome: SweepOutcome;
}

/**
 * Runs a scenario once: a first worker is interrupted, and a second worker finishes the work. A frozen worker continues
 * after that; one whose Redis is killed goes on by itself.
 */
export async function runScenario(
  scenario: Scenario,
  testBed: TestBed,
  interruption: Interruption | null,
): Promise<Run> {
  const stage = await prepare(scenario, testBed);
  const workerSetup = testBed.workerSetup(stage.settings);
  const isOfRedis = interruption?.what.startsWith('redis') === true;
  const restarts: Promise<void>[] = [];
  const steps = createSteps(interruption, async () => {
    const killed = testBed.killRedis();
    restarts.push(killed.then(() => testBed.startRedis()));
    await killed;
  });
  const first = await openWorker(workerSetup, steps);
  let inFlight: readonly string[] = [];
  let takenOver: readonly string[] = [];
  const leasesEnded: string[] = [];
  const firstRun = drain(stage, first).then((ended) => leasesEnded.push(...ended));
  await Promise.race([firstRun, ...(isOfRedis ? [] : [steps.interrupted])]);
  await Promise.all(restarts);
  const closings = [first];
  if (steps.isInterrupted()) {
    const second = await openWorker(workerSetup, createSteps(null));
    closings.push(second);
    if (!isOfRedis) {
      inFlight = await entriesInFlight(testBed.stores.redis);
      takenOver = await takenOverAtOnce(testBed, second, inFlight);
    }
    leasesEnded.push(...(await drain(stage, second)));
    if (interruption?.what.startsWith('frozen')) {
      steps.resume();
      await firstRun;
      leasesEnded.push(...(await drain(stage, second)));
    }
  }
  await Promise.all(restarts);
  // The outcome is read over two connections; after a late kill one may be back before the other.
  await eventually(() => testBed.foundation.redis.ping());
  const outcome = await outcomeOf(stage);
  await Promise.all(closings.map((worker) => worker.close()));
  return {
    steps: steps.taken,
    wasInterrupted: steps.isInterrupted(),
    inFlight,
    takenOver,
    leasesEnded,
    failures: first.failures,
    outcome,
  };
}

/** Lets another worker look at everything while the leases of the first one last, as a job does that was added twice. */
async function takenOverAtOnce({ stores }: TestBed, worker: Worker, inFlight: readonly string[]): Promise<string[]> {
  await makeAllDue(stores.redis);
  await worker.work();
  const left = await entriesInFlight(stores.redis);
  return inFlight.filter((entry) => !left.includes(entry));
}

export async function prepare(scenario: Scenario, testBed: TestBed): Promise<Stage> {
  await testBed.clear();
  await testBed.service.setFaults([]);
  const stage = { testBed, settings: scenario.settings ?? {}, ...(await testBed.service.orderTow(false)) };
  await scenario.prepare(stage);
  await testBed.service.setFaults(scenario.faults ?? []);
  return stage;
}

/** What an uninterrupted run ended with, in the notation of `Scenario.end`. */
export function endOf({ outcome: { reports, violations, deliveries, runs, tasks } }: Run): string[] {
  return [...reports, ...violations, ...deliveries, ...runs, ...tasks].toSorted();
}

/** Compares an interrupted run with an uninterrupted one; returns the problems found. */
export function problemsOf(scenario: Scenario, run: Run, uninterrupted: Run): string[] {
  const { counts, created, lost, faults, ...outcome } = run.outcome;
  const wanted = uninterrupted.outcome;
  const creates = Object.values(created).reduce((sum, count) => sum + count, 0);
  const isWaitingForPerson =
    outcome.tasks.some((task) => /^(report|violation)_unknown/.test(task)) &&
    (scenario.mayNeedPerson === 'always' || (scenario.mayNeedPerson !== undefined && creates === 0));
  const endsOtherwise = JSON.stringify(scenario.endWithoutAnswer?.toSorted());
  const isWithoutAnswer = run.inFlight.length > 0 && endsOtherwise === JSON.stringify(endOf(run));
  const mayDiffer = isWaitingForPerson || isWithoutAnswer;
  const more = Object.entries(counts).reduce(
    (sum, [name, count]) => sum + Math.max(0, count - (wanted.counts[name] ?? 0)),
    0,
  );
  const moreMax = run.inFlight.length === 0 ? 0 : scenario.repeats;
  return [
    ...differences(outcome, wanted).filter((difference) => !mayDiffer || /^(audit|run) /.test(difference)),
    ...(more > moreMax ? [`${more} calls more than in an uninterrupted run: ${JSON.stringify(counts)}`] : []),
    ...(creates > (scenario.createsMax ?? Infinity) ? [`created ${creates} times`] : []),
    ...lost
      .filter((name) => !run.inFlight.includes(name))
      .map((name) => `${name} lost an attempt that was not under way`),
    ...run.takenOver.map((name) => `${name} was taken over before its lease had ended`),
    ...faults,
  ];
}

function differences(is: object, wanted: object): string[] {
  const expected = new Map<string, unknown>(Object.entries(wanted));
  return Object.entries(is).flatMap(([name, value]) => {
    const [shown, other] = [JSON.stringify(value), JSON.stringify(expected.get(name))];
    return shown === other
      ? []
      : [`${name} is …${aroundFirstDifference(shown, other)}…, expected …${aroundFirstDifference(other, shown)}…`];
  });
}

/** Records are long: what is shown begins shortly before the first difference. */
function aroundFirstDifference(text: string, other: string): string {
  const at = Array.from(text).findIndex((character, index) => character !== other[index]);
  return text.slice(Math.max(0, at - 60), (at < 0 ? text.length : at) + 100);
}
