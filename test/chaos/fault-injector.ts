import { setTimeout as pause } from 'node:timers/promises';
import type { Killable } from './killable';
import type { ServiceRecord } from './record';
import { LONG_FREEZE_MS, type PlannedFault, type FaultTarget } from './schedule';
import { NO_FAULTS, HIGHEST_FAULTS } from './fault-plan';

/** The kills and freezes of running processes. */
export interface ProcessFaults {
  readonly kills: Readonly<Record<'workers' | 'receiver' | 'redis', number>>;
  readonly freezes: Readonly<Record<'workers' | 'receiver' | 'redis', number>>;
  /** Freezes of workers that were longer than the lease. */
  readonly longFreezes: number;
}

export const NO_PROCESS_FAULTS: ProcessFaults = {
  kills: { workers: 0, receiver: 0, redis: 0 },
  freezes: { workers: 0, receiver: 0, redis: 0 },
  longFreezes: 0,
};

export function sumOf(one: ProcessFaults, other: ProcessFaults): ProcessFaults {
  const add = (group: 'kills' | 'freezes') => ({
    workers: one[group].workers + other[group].workers,
    receiver: one[group].receiver + other[group].receiver,
    redis: one[group].redis + other[group].redis,
  });
  return { kills: add('kills'), freezes: add('freezes'), longFreezes: one.longFreezes + other.longFreezes };
}

export interface FaultInjectorTools {
  readonly targets: Readonly<Record<FaultTarget, Killable>>;
  readonly record: ServiceRecord;
  readonly signal: AbortSignal;
  /** Whether fault injection goes on after the planned faults. */
  readonly needsMoreFaults: () => Promise<boolean>;
}

/** Faults that did not occur by then are left to another round, which makes more calls. */
const EXTRA_FAULTS_MAX_MS = 40_000;
const LOOK_EVERY_MS = 500;

/**
 * Injects each planned fault at its time. Resolves when every process runs again and the service has no faults. Rejects
 * when a process does not start again.
 */
export async function injectFaults(
  schedule: readonly PlannedFault[],
  tools: FaultInjectorTools,
): Promise<ProcessFaults> {
  const startedMs = performance.now();
  const kills = { workers: 0, receiver: 0, redis: 0 };
  const freezes = { workers: 0, receiver: 0, redis: 0 };
  let longFreezes = 0;
  const inject = async (fault: PlannedFault) => {
    await pause(Math.max(0, fault.atMs - (performance.now() - startedMs)), undefined, { signal: tools.signal });
    switch (fault.kind) {
      case 'service':
        await tools.record.setFaults(fault.plan.rules);
        break;
      case 'kill':
        if (await tools.targets[fault.target].kill(fault.lastsMs)) kills[groupOf(fault.target)] += 1;
        break;
      case 'freeze':
        if (!(await tools.targets[fault.target].freeze(fault.lastsMs))) break;
        freezes[groupOf(fault.target)] += 1;
        if (groupOf(fault.target) === 'workers' && fault.lastsMs >= LONG_FREEZE_MS) longFreezes += 1;
        break;
    }
  };
  const faultPlans = schedule.filter(({ kind }) => kind === 'service');
  const processFaults = schedule.filter(({ kind }) => kind !== 'service');
  // A worker may stay frozen long after the last planned service faults; these go on independently.
  const injecting = Promise.all(faultPlans.map(inject)).then(() => injectUntilEnoughOccurred(tools));
  await Promise.all([injecting, ...processFaults.map(inject)]);
  return { kills, freezes, longFreezes };
}

function groupOf(target: FaultTarget): keyof ProcessFaults['kills'] {
  return target === 'redis' || target === 'receiver' ? target : 'workers';
}

/** Keeps the service faults at their highest rates. A slow machine makes most of its calls after the planned faults. */
async function injectUntilEnoughOccurred({ record, signal, needsMoreFaults }: FaultInjectorTools): Promise<void> {
  const untilMs = performance.now() + EXTRA_FAULTS_MAX_MS;
  while (performance.now() < untilMs && (await needsMoreFaults())) {
    await record.setFaults(HIGHEST_FAULTS.rules);
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  await record.setFaults(NO_FAULTS.rules);
}
