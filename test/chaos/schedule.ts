import { createRandom, type Random } from './random';
import { NO_FAULTS, outagePlan, lostAnswers, mixedFaults, type FaultPlan } from './fault-plan';

/** The faults of a run and their times, derived from the seed before the run. */

export const WORKERS = ['worker 1', 'worker 2', 'worker 3'] as const;
export const TARGETS = [...WORKERS, 'receiver', 'redis'] as const;
export type FaultTarget = (typeof TARGETS)[number];

/** Kills or freezes a process for a while. */
export interface ProcessFault {
  readonly atMs: number;
  readonly kind: 'kill' | 'freeze';
  readonly target: FaultTarget;
  readonly lastsMs: number;
}
export type PlannedFault = ProcessFault | { readonly atMs: number; readonly kind: 'service'; readonly plan: FaultPlan };

/** A worker that was frozen for longer has lost its lease (20 s). */
export const LONG_FREEZE_MS = 21_000;
const RECOVERY_MS = 1500;

/** All faults over `overMs`, in order of time. The last one ends the service faults. */
export function scheduleOf(seed: number, overMs: number): PlannedFault[] {
  return [...faultPlans(createRandom(seed, 2), overMs), ...processFaults(createRandom(seed, 3), overMs)].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

/** Mixed faults, lost answers and outages in turn, with pauses in which a tow can get through. */
function faultPlans(random: Random, overMs: number): PlannedFault[] {
  const turns = [
    () => ({ plan: mixedFaults(random), lastsMs: random.whole(6000, 12_000) }),
    () => ({ plan: lostAnswers(random), lastsMs: random.whole(11_000, 13_000) }),
    () => ({ plan: mixedFaults(random), lastsMs: random.whole(6000, 12_000) }),
    () => ({ plan: outagePlan(random), lastsMs: random.whole(1500, 4000) }),
  ];
  const list: PlannedFault[] = [];
  for (let atMs = 0, turn = 0; atMs < overMs; turn += 1) {
    const { plan, lastsMs } = turns[turn % turns.length]?.() ?? { plan: NO_FAULTS, lastsMs: 0 };
    list.push({ atMs, kind: 'service', plan });
    atMs += lastsMs;
    list.push({ atMs, kind: 'service', plan: NO_FAULTS });
    atMs += random.whole(1500, 3000);
  }
  return [...list.filter(({ atMs }) => atMs < overMs), { atMs: overMs, kind: 'service', plan: NO_FAULTS }];
}

/** At least one fault of each kind, then random ones. */
function processFaults(random: Random, overMs: number): ProcessFault[] {
  const [frozen, killed] = random.pick([
    ['worker 1', 'worker 2'],
    ['worker 2', 'worker 3'],
    ['worker 3', 'worker 1'],
  ]);
  const list: ProcessFault[] = [
    { atMs: 0.1 * overMs, kind: 'freeze', target: frozen, lastsMs: LONG_FREEZE_MS },
    { atMs: 0.2 * overMs, kind: 'kill', target: 'receiver', lastsMs: 700 },
    { atMs: 0.35 * overMs, kind: 'kill', target: 'redis', lastsMs: 1500 },
    { atMs: 0.45 * overMs, kind: 'kill', target: killed, lastsMs: 500 },
    { atMs: 0.6 * overMs, kind: 'freeze', target: 'receiver', lastsMs: 1000 },
    { atMs: 0.8 * overMs, kind: 'kill', target: killed, lastsMs: 500 },
  ];
  for (let atMs = random.whole(200, 800); atMs < overMs; atMs += random.whole(400, 1500)) {
    const strike = { atMs, ...processFaultOf(random) };
    if (!list.some((other) => overlap(strike, other))) list.push(strike);
  }
  return list;
}

/** Whether two faults of one process overlap, including its recovery. */
function overlap(one: ProcessFault, other: ProcessFault): boolean {
  if (one.target !== other.target) return false;
  const [first, second] = one.atMs < other.atMs ? [one, other] : [other, one];
  return second.atMs < first.atMs + first.lastsMs + RECOVERY_MS;
}

function processFaultOf(random: Random): Omit<ProcessFault, 'atMs'> {
  const die = random.next();
  const strike = (
    kind: ProcessFault['kind'],
    target: FaultTarget,
    lastsMs: readonly [least: number, most: number],
  ) => ({
    kind,
    target,
    lastsMs: random.whole(...lastsMs),
  });
  if (die < 0.42) return strike('kill', random.pick(WORKERS), [50, 2000]);
  if (die < 0.57) return strike('kill', 'receiver', [50, 1500]);
  if (die < 0.68) return strike('kill', 'redis', [50, 3000]);
  if (die < 0.82) return strike('freeze', random.pick(WORKERS), [200, 6000]);
  if (die < 0.9) return strike('freeze', 'receiver', [200, 3000]);
  if (die < 0.95) return strike('freeze', 'redis', [100, 1500]);
  return strike('freeze', random.pick(WORKERS), [LONG_FREEZE_MS, 24_000]);
}
