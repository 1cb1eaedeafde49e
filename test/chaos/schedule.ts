import { createRandom, type Random } from './random';
import { CALM, outage, silence, storm, type Weather } from './weather';

/** What is done to a running towhook, and when: everything a seed decides about it, worked out before the run. */

export const WORKERS = ['worker 1', 'worker 2', 'worker 3'] as const;
export const VICTIMS = [...WORKERS, 'receiver', 'redis'] as const;
export type Victim = (typeof VICTIMS)[number];

/** Kills or freezes a victim for a while. */
export interface Strike {
  readonly atMs: number;
  readonly kind: 'kill' | 'freeze';
  readonly victim: Victim;
  readonly lastsMs: number;
}
export type Blow = Strike | { readonly atMs: number; readonly kind: 'weather'; readonly weather: Weather };

/** A worker that is frozen for longer than this has lost its lease (20 s) when it goes on. */
export const LONG_FREEZE_MS = 21_000;
const RECOVERY_MS = 1500;

/** Blows over `overMs`, in order of time. The weather after the last one is calm. */
export function scheduleOf(seed: number, overMs: number): Blow[] {
  return [...weathers(createRandom(seed, 2), overMs), ...strikes(createRandom(seed, 3), overMs)].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

/** Storms, a silence or an outage now and then, and enough calm between them for a tow to get through. */
function weathers(random: Random, overMs: number): Blow[] {
  const turns = [
    () => ({ weather: storm(random), lastsMs: random.whole(6000, 12_000) }),
    () => ({ weather: silence(random), lastsMs: random.whole(11_000, 13_000) }),
    () => ({ weather: storm(random), lastsMs: random.whole(6000, 12_000) }),
    () => ({ weather: outage(random), lastsMs: random.whole(1500, 4000) }),
  ];
  const list: Blow[] = [];
  for (let atMs = 0, turn = 0; atMs < overMs; turn += 1) {
    const { weather, lastsMs } = turns[turn % turns.length]?.() ?? { weather: CALM, lastsMs: 0 };
    list.push({ atMs, kind: 'weather', weather });
    atMs += lastsMs;
    list.push({ atMs, kind: 'weather', weather: CALM });
    atMs += random.whole(1500, 3000);
  }
  return [...list.filter(({ atMs }) => atMs < overMs), { atMs: overMs, kind: 'weather', weather: CALM }];
}

/** At least one blow of each kind, however short the run; then whatever the dice say. */
function strikes(random: Random, overMs: number): Strike[] {
  const [frozen, killed] = random.pick([
    ['worker 1', 'worker 2'],
    ['worker 2', 'worker 3'],
    ['worker 3', 'worker 1'],
  ]);
  const list: Strike[] = [
    { atMs: 0.1 * overMs, kind: 'freeze', victim: frozen, lastsMs: LONG_FREEZE_MS },
    { atMs: 0.2 * overMs, kind: 'kill', victim: 'receiver', lastsMs: 700 },
    { atMs: 0.35 * overMs, kind: 'kill', victim: 'redis', lastsMs: 1500 },
    { atMs: 0.45 * overMs, kind: 'kill', victim: killed, lastsMs: 500 },
    { atMs: 0.6 * overMs, kind: 'freeze', victim: 'receiver', lastsMs: 1000 },
    { atMs: 0.8 * overMs, kind: 'kill', victim: killed, lastsMs: 500 },
  ];
  for (let atMs = random.whole(200, 800); atMs < overMs; atMs += random.whole(400, 1500)) {
    const strike = { atMs, ...strikeOf(random) };
    if (!list.some((other) => getInTheWay(strike, other))) list.push(strike);
  }
  return list;
}

/** One that is down or frozen, or has just come up again, can hardly be struck. */
function getInTheWay(one: Strike, other: Strike): boolean {
  if (one.victim !== other.victim) return false;
  const [first, second] = one.atMs < other.atMs ? [one, other] : [other, one];
  return second.atMs < first.atMs + first.lastsMs + RECOVERY_MS;
}

function strikeOf(random: Random): Omit<Strike, 'atMs'> {
  const die = random.next();
  const strike = (kind: Strike['kind'], victim: Victim, lastsMs: readonly [least: number, most: number]) => ({
    kind,
    victim,
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
