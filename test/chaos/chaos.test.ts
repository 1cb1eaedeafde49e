import { livesOf } from './lives';
import { runChaos, type Findings } from './run';
import { scheduleOf } from './schedule';
import { failuresOf, zeroesOf } from './verdict';

const TOWS = 200;
const SEED = 20_261_120;
const STORM_MS = 12_000;
const LIMIT_MS = 110_000;

describe('200 tows in a storm of kills, freezes and faults', () => {
  let findings: Findings;
  beforeAll(async () => {
    const signal = new AbortController().signal;
    findings = await runChaos({ seed: SEED, tows: TOWS, stormMs: STORM_MS, limitMs: LIMIT_MS, signal, show: () => {} });
  }, LIMIT_MS + 60_000);

  test('all finish: nothing is lost, nothing done twice, nothing out of order, and enough has happened', () => {
    expect(failuresOf(findings, TOWS)).toEqual([]);
    expect(Object.values(zeroesOf(findings)).every((count) => count === 0)).toBe(true);
    expect(findings.finished).toBe(TOWS);
  });

  const none = { workers: 0, receiver: 0, redis: 0 };
  test.each<[string, (all: Findings) => Partial<Findings>]>([
    ['one tow did not finish', ({ finished }) => ({ finished: finished - 1 })],
    ['one webhook was lost', ({ deliveries }) => ({ deliveries: { ...deliveries, lost: 1 } })],
    ['one report was lost', ({ reports }) => ({ reports: { ...reports, missing: 1 } })],
    ['one tow was out of order', ({ reports }) => ({ reports: { ...reports, outOfOrder: 1 } })],
    ['one invoice was created a third time', ({ reports }) => ({ reports: { ...reports, thirdCreates: 1 } })],
    ['anything else was wrong', () => ({ problems: ['a role ended by itself'] })],
    ['nobody was killed', ({ havoc }) => ({ havoc: { ...havoc, kills: none } })],
    ['nobody was frozen', ({ havoc }) => ({ havoc: { ...havoc, freezes: none, longFreezes: 0 } })],
    ['the service made no fault', () => ({ faults: new Map() })],
    ['nothing was reported', ({ reports }) => ({ reports: { ...reports, owed: 0, taken: 0 } })],
  ])('do not pass if %s', (_what, change) => {
    expect(failuresOf({ ...findings, ...change(findings) }, TOWS)).not.toEqual([]);
  });
});

test('a seed tells the same lives and the same blows again, and another one others', () => {
  const drawn = (seed: number) => ({ lives: livesOf(seed, 50, 10_000), schedule: scheduleOf(seed, 60_000) });

  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7).lives).not.toEqual(drawn(8).lives);
  expect(drawn(7).schedule).not.toEqual(drawn(8).schedule);
});

test('no blow is dealt to what is down or frozen, and each kind is dealt however short the run', () => {
  for (const seed of Array.from({ length: 200 }, (_, index) => index)) {
    const strikes = scheduleOf(seed, STORM_MS).flatMap((blow) => (blow.kind === 'weather' ? [] : [blow]));
    const overlaps = strikes.filter((one) =>
      strikes.some(
        (other) =>
          other !== one &&
          other.victim === one.victim &&
          other.atMs <= one.atMs &&
          one.atMs < other.atMs + other.lastsMs,
      ),
    );
    expect(overlaps).toEqual([]);
    expect(strikes.some(({ kind, victim }) => kind === 'kill' && victim === 'redis')).toBe(true);
    expect(strikes.some(({ kind, victim }) => kind === 'kill' && victim === 'receiver')).toBe(true);
    expect(strikes.filter(({ kind, victim }) => kind === 'kill' && victim.startsWith('worker')).length).toBeGreaterThan(
      1,
    );
    expect(strikes.some(({ kind, lastsMs }) => kind === 'freeze' && lastsMs > 20_000)).toBe(true);
  }
});
