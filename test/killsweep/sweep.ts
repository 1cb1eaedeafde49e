import { drain } from './drain';
import type { Lane } from './lane';
import { createWorker, type Interruption, type InterruptibleWorker } from './interruptible-worker';
import { outcomeOf, type Outcome } from './outcome';
import { DELIVERY, type Scenario, type Stage } from './scenario';

/** One run of a scenario. */
export interface Run {
  /** The calls that the first worker made to its ports, including the interrupted one. */
  readonly calls: readonly string[];
  readonly wasInterrupted: boolean;
  readonly outcome: Outcome;
}

/**
 * Plays a scenario once: a first worker is interrupted, and a second worker finishes the work. A frozen worker continues
 * after that.
 */
export async function play(scenario: Scenario, lane: Lane, interruption: Interruption | null): Promise<Run> {
  const stage = await prepare(scenario, lane);
  const worker = createWorker(interruption);
  const firstRun = runJob(scenario, stage, worker).then(() => drain(stage, worker));
  await Promise.race([firstRun, worker.interrupted]);
  if (worker.isInterrupted()) {
    // A second job may start before the lease of the first worker expires.
    await runJob(scenario, stage, createWorker(null));
    await drain(stage);
  }
  if (interruption?.what === 'frozen before') {
    worker.resume();
    await firstRun;
  }
  return { calls: worker.calls, wasInterrupted: worker.isInterrupted(), outcome: await outcomeOf(stage) };
}

async function prepare(scenario: Scenario, lane: Lane): Promise<Stage> {
  await lane.clear();
  await lane.service.setFaults([]);
  lane.settings.graceMs = scenario.graceMs ?? 150;
  const stage = { lane, ...(await lane.service.orderTow(false)) };
  await scenario.prepare(stage);
  const faults = scenario.faults ?? [];
  await lane.service.setFaults(faults.map((fault) => ({ ...fault, towing_reference_id: stage.ref })));
  return stage;
}

function runJob({ wakeUp }: Scenario, { lane, ref }: Stage, worker: InterruptibleWorker): Promise<void> {
  return wakeUp === 'delivery' ? lane.processDelivery(DELIVERY, worker) : lane.sendReports(ref, worker);
}

/** The reports, deliveries and open tasks at the end of a run, in the notation of `Scenario.end`. */
export function endOf({ outcome: { reports, deliveries, tasks } }: Run): string[] {
  const states = reports.map((report) => report.split(' ').slice(0, 2).join(' '));
  return [...states, ...deliveries, ...tasks];
}

/** Compares an interrupted run with an uninterrupted one; returns the problems found. */
export function problemsOf(scenario: Scenario, run: Run, uninterrupted: Run): string[] {
  const { counts: seen, ...outcome } = run.outcome;
  const { counts: expected, ...wanted } = uninterrupted.outcome;
  const kinds = Object.keys(expected);
  const more = kinds.reduce((sum, kind) => sum + Math.max(0, (seen[kind] ?? 0) - (expected[kind] ?? 0)), 0);
  const isWithPerson =
    scenario.mayNeedPerson === true && outcome.tasks.some((task) => task.startsWith('report_unknown'));
  const isAllowed = (difference: string) => isWithPerson && /^(reports|tasks) /.test(difference);
  const creates = seen['invoice'] ?? 0;
  return [
    ...differences(outcome, wanted).filter((difference) => !isAllowed(difference)),
    ...(more > scenario.repeats ? [`${more} calls more than in an uninterrupted run: ${JSON.stringify(seen)}`] : []),
    ...(creates > (scenario.createsMax ?? Infinity) ? [`${creates} creates of an invoice`] : []),
  ];
}

function differences(is: object, wanted: object): string[] {
  const other = new Map<string, unknown>(Object.entries(is));
  return Object.entries(wanted).flatMap(([name, value]) => {
    const [shown, expected] = [JSON.stringify(other.get(name)), JSON.stringify(value)];
    return shown === expected ? [] : [`${name} is ${shown}, expected ${expected}`];
  });
}
