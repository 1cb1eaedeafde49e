import { drain } from './drain';
import type { Lane } from './lane';
import { createLife, type Fate, type Life } from './mortal-worker';
import { outcomeOf, type Outcome } from './outcome';
import { DELIVERY, type Scenario, type Stage } from './scenario';

/** One run of a scenario. */
export interface Run {
  /** The calls the first worker made of its ports, the one it was struck at included. */
  readonly calls: readonly string[];
  readonly wasStruck: boolean;
  readonly outcome: Outcome;
}

/**
 * Plays a scenario once: a first worker with its fate, and another that works off what the first one left. One that was
 * frozen goes on when all is done and settled without it.
 */
export async function play(scenario: Scenario, lane: Lane, fate: Fate | null): Promise<Run> {
  const stage = await prepare(scenario, lane);
  const life = createLife(fate);
  const living = wake(scenario, stage, life).then(() => drain(stage, life));
  await Promise.race([living, life.struck]);
  if (life.isStruck()) {
    // Another is woken at once, too early, as wake-ups come when they like.
    await wake(scenario, stage, createLife(null));
    await drain(stage);
  }
  if (fate?.what === 'frozen before') {
    life.thaw();
    await living;
  }
  return { calls: life.calls, wasStruck: life.isStruck(), outcome: await outcomeOf(stage) };
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

function wake({ wakeUp }: Scenario, { lane, ref }: Stage, life: Life): Promise<void> {
  return wakeUp === 'delivery' ? lane.processDelivery(DELIVERY, life) : lane.sendReports(ref, life);
}

/** The reports, deliveries and open tasks that a run left, in short. */
export function endOf({ outcome: { reports, deliveries, tasks } }: Run): string[] {
  const states = reports.map((report) => report.split(' ').slice(0, 2).join(' '));
  return [...states, ...deliveries, ...tasks];
}

/** What is wrong with a run in which a worker was struck, held against one in which none was; empty when nothing is. */
export function wrongsOf(scenario: Scenario, run: Run, whole: Run): string[] {
  const { counts: seen, ...outcome } = run.outcome;
  const { counts: expected, ...wanted } = whole.outcome;
  const kinds = Object.keys(expected);
  const more = kinds.reduce((sum, kind) => sum + Math.max(0, (seen[kind] ?? 0) - (expected[kind] ?? 0)), 0);
  const isWithPerson =
    scenario.mayNeedPerson === true && outcome.tasks.some((task) => task.startsWith('report_unknown'));
  const isForPerson = (difference: string) => isWithPerson && /^(reports|tasks) /.test(difference);
  const creates = seen['invoice'] ?? 0;
  return [
    ...differences(outcome, wanted).filter((difference) => !isForPerson(difference)),
    ...(more > scenario.repeats ? [`${more} calls more than without it: ${JSON.stringify(seen)}`] : []),
    ...(creates > (scenario.createsMax ?? Infinity) ? [`${creates} creates of an invoice`] : []),
  ];
}

function differences(is: object, wanted: object): string[] {
  const other = new Map<string, unknown>(Object.entries(is));
  return Object.entries(wanted).flatMap(([name, value]) => {
    const [shown, expected] = [JSON.stringify(other.get(name)), JSON.stringify(value)];
    return shown === expected ? [] : [`${name} is ${shown} and not ${expected}`];
  });
}
