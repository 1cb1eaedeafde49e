import { livesOf } from './lives';
import { runChaos, type Findings } from './run';
import { scheduleOf } from './schedule';
import { brokenPromisesOf, failuresOf, shortfallsOf, zeroesOf } from './verdict';

const TOWS = 200;
const SEED = 20_261_120;
const STORM_MS = 12_000;
/** Only ends a run that hangs: on a slow machine a run plays several rounds. */
const LIMIT_MS = 15 * 60_000;

describe('chaos run: 200 tows, some from violations, under kills, freezes and faults', () => {
  let findings: Findings;
  beforeAll(async () => {
    const signal = new AbortController().signal;
    findings = await runChaos({ seed: SEED, tows: TOWS, stormMs: STORM_MS, limitMs: LIMIT_MS, signal, show: () => {} });
  }, LIMIT_MS + 60_000);

  test('finishes every tow in order with nothing lost or repeated, after enough failures of every kind', () => {
    expect(failuresOf(findings, TOWS)).toEqual([]);
    expect(Object.values(zeroesOf(findings)).every((count) => count === 0)).toBe(true);
    expect(findings.finished).toBe(findings.played);
    expect(findings.finished).toBeGreaterThanOrEqual(TOWS);
  });

  test.each<[string, (all: Findings) => Partial<Findings>]>([
    ['one tow did not finish', ({ finished }) => ({ finished: finished - 1 })],
    ['one webhook was lost', ({ deliveries }) => ({ deliveries: { ...deliveries, lost: 1 } })],
    ['one report was lost', ({ reports }) => ({ reports: { ...reports, missing: 1 } })],
    ['one tow was reported out of order', ({ reports }) => ({ reports: { ...reports, outOfOrder: 1 } })],
    ['one invoice was created a third time', ({ reports }) => ({ reports: { ...reports, thirdCreates: 1 } })],
    ['one violation was lost', ({ settled }) => ({ settled: { ...settled, lost: 1 } })],
    ['one violation was stored as two', ({ settled }) => ({ settled: { ...settled, doubled: 1 } })],
    ['images were left in the spool', ({ settled }) => ({ settled: { ...settled, imagesLeft: 1 } })],
    ['a violation reached the service changed', ({ violations }) => ({ violations: { ...violations, exact: -1 } })],
    ['one violation was created twice', ({ violations }) => ({ violations: { ...violations, madeTwice: 1 } })],
    [
      'a violation of unknown outcome was sent again without a person',
      ({ violations }) => ({ violations: { ...violations, forbiddenCreates: 1 } }),
    ],
    ['one tow was joined to another violation', ({ violations }) => ({ violations: { ...violations, wrongTows: 1 } })],
    ['no conservation check ran at the end', () => ({ walk: null })],
    ['a role ended by itself', () => ({ problems: ['a role ended by itself'] })],
    ['no report was owed', ({ reports }) => ({ reports: { ...reports, owed: 0, taken: 0 } })],
  ])('fails a run in which %s, and plays no further round', (_what, change) => {
    expect(brokenPromisesOf({ ...findings, ...change(findings) })).not.toEqual([]);
  });

  const none = { workers: 0, receiver: 0, redis: 0 };
  test.each<[string, (all: Findings) => Partial<Findings>]>([
    ['no violation was posted', ({ violations }) => ({ violations: { ...violations, posted: 0, exact: 0 } })],
    [
      'no tow started from a violation',
      ({ violations }) => ({ violations: { ...violations, startedFromViolation: 0 } }),
    ],
    ['no violation was proved by its tow', ({ settled }) => ({ settled: { ...settled, byHow: new Map() } })],
    ['no person decided on a violation', () => ({ violationDecisions: [] })],
    ['no violation met a fault', () => ({ violationFaults: new Map() })],
    ['no process was killed', ({ havoc }) => ({ havoc: { ...havoc, kills: none } })],
    ['no process was frozen', ({ havoc }) => ({ havoc: { ...havoc, freezes: none, longFreezes: 0 } })],
    ['the service made no fault', () => ({ faults: new Map() })],
  ])('plays a further round, and fails without time for one, when %s', (_what, change) => {
    const poor = { ...findings, ...change(findings) };
    expect(shortfallsOf(poor, TOWS)).not.toEqual([]);
    expect(failuresOf(poor, TOWS)).toEqual([...brokenPromisesOf(poor), ...shortfallsOf(poor, TOWS)]);
  });
});

test('draws the same tows and the same kills and freezes from a seed, and others from another seed', () => {
  const drawn = (seed: number) => ({ lives: livesOf(seed, 50, 10_000), schedule: scheduleOf(seed, 60_000) });

  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7).lives).not.toEqual(drawn(8).lives);
  expect(drawn(7).schedule).not.toEqual(drawn(8).schedule);
});

test('starts one tow in five from a violation, half of them with an id of the patrol, with up to three images', () => {
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

test('gives the tows of a further round names and plates of their own', () => {
  const platesOf = (lives: ReturnType<typeof livesOf>) =>
    lives.flatMap(({ sighting, steps }) => [
      ...(sighting ? [sighting.fields['plateNumber']] : []),
      ...steps.flatMap(({ entry }) => ('plate_number' in entry ? [entry['plate_number']] : [])),
    ]);
  const first = platesOf(livesOf(7, 200, 10_000));
  const further = platesOf(livesOf(8, 60, 10_000, 200));

  expect(further.length).toBeGreaterThan(20);
  expect(further.filter((plate) => first.includes(plate))).toEqual([]);
});

test('schedules no kill or freeze for a process that is down or frozen, and each kind at least once in a short run', () => {
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
