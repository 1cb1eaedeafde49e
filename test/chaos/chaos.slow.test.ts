import { livesOf } from './lives';
import { runChaos, type Findings } from './run';
import { scheduleOf } from './schedule';
import { failuresOf, zeroesOf } from './verdict';

const TOWS = 200;
const SEED = 20_261_120;
const STORM_MS = 12_000;
const LIMIT_MS = 110_000;

describe('200 tows, some of them from violations, in a storm of kills, freezes and faults', () => {
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
    ['one violation was lost', ({ settled }) => ({ settled: { ...settled, lost: 1 } })],
    ['one violation was taken in as two', ({ settled }) => ({ settled: { ...settled, doubled: 1 } })],
    ['images were left in the spool', ({ settled }) => ({ settled: { ...settled, imagesLeft: 1 } })],
    ['one violation arrived otherwise', ({ violations }) => ({ violations: { ...violations, exact: -1 } })],
    ['one violation was made twice', ({ violations }) => ({ violations: { ...violations, madeTwice: 1 } })],
    [
      'one violation was sent again by itself',
      ({ violations }) => ({ violations: { ...violations, forbiddenCreates: 1 } }),
    ],
    ['one tow came from another violation', ({ violations }) => ({ violations: { ...violations, wrongTows: 1 } })],
    ['no violation was posted', ({ violations }) => ({ violations: { ...violations, posted: 0, exact: 0 } })],
    [
      'no tow started from a violation',
      ({ violations }) => ({ violations: { ...violations, startedFromViolation: 0 } }),
    ],
    ['no violation was proved by its tow', ({ settled }) => ({ settled: { ...settled, byHow: new Map() } })],
    ['no person decided on a violation', () => ({ violationDecisions: [] })],
    ['no violation met a fault', () => ({ violationFaults: new Map() })],
    ['nothing was walked over at the end', () => ({ walk: null })],
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

test('one tow in five begins as a violation, half of them under an id of the patrol, with up to three images', () => {
  const sightings = livesOf(7, 1000, 10_000).flatMap(({ sighting, steps }) =>
    sighting ? [{ ...sighting, steps }] : [],
  );
  const told = sightings.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'started'));
  const own = sightings.filter(({ metadata }) => metadata?.['id'] !== undefined);

  expect(sightings).toHaveLength(200);
  expect(told.every(({ entry }) => Object.keys(entry).length === 0)).toBe(true);
  expect(Math.abs(own.length - 100)).toBeLessThan(30);
  expect(new Set(sightings.map(({ images }) => images.length))).toEqual(new Set([0, 1, 2, 3]));
  expect(new Set(sightings.map(({ fields }) => fields['plateNumber'])).size).toBe(200);
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
