import { towScenariosOf } from './tow-scenarios';
import { runChaos, type ChaosFindings } from './run';
import { scheduleOf } from './schedule';
import { brokenPromisesOf, failuresOf, missingCoverageOf, mustBeZero } from './verdict';

const TOWS = 200;
const SEED = 20_261_120;
const CHAOS_MS = 12_000;
/** Ends only a run that hangs: a slow machine plays several rounds. */
const LIMIT_MS = 15 * 60_000;

describe('chaos run of 200 tows', () => {
  let findings: ChaosFindings;
  beforeAll(async () => {
    const signal = new AbortController().signal;
    findings = await runChaos({ seed: SEED, tows: TOWS, chaosMs: CHAOS_MS, limitMs: LIMIT_MS, signal, show: () => {} });
  }, LIMIT_MS + 60_000);

  test('a chaos run finishes every tow in order, with nothing lost or repeated, after enough failures of every kind', () => {
    expect(failuresOf(findings, TOWS)).toEqual([]);
    expect(Object.values(mustBeZero(findings)).every((count) => count === 0)).toBe(true);
    expect(findings.finished).toBe(findings.played);
    expect(findings.finished).toBeGreaterThanOrEqual(TOWS);
  });

  test.each<[string, (all: ChaosFindings) => Partial<ChaosFindings>]>([
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
      'a violation of unknown outcome was sent again without a decision',
      ({ violations }) => ({ violations: { ...violations, forbiddenCreates: 1 } }),
    ],
    ['one tow was joined to another violation', ({ violations }) => ({ violations: { ...violations, wrongTows: 1 } })],
    ['no conservation check ran at the end', () => ({ lastScan: null })],
    ['a role ended by itself', () => ({ problems: ['a role ended by itself'] })],
    ['no report was owed', ({ reports }) => ({ reports: { ...reports, owed: 0, taken: 0 } })],
  ])('a chaos run in which %s fails and plays no further round', (_what, change) => {
    expect(brokenPromisesOf({ ...findings, ...change(findings) })).not.toEqual([]);
  });

  const none = { workers: 0, receiver: 0, redis: 0 };
  test.each<[string, (all: ChaosFindings) => Partial<ChaosFindings>]>([
    ['no violation was posted', ({ violations }) => ({ violations: { ...violations, posted: 0, exact: 0 } })],
    [
      'no tow started from a violation',
      ({ violations }) => ({ violations: { ...violations, startedFromViolation: 0 } }),
    ],
    ['no violation was proved by its tow', ({ settled }) => ({ settled: { ...settled, byHow: new Map() } })],
    ['no decision was made about a violation', () => ({ violationDecisions: [] })],
    ['no violation met a fault', () => ({ violationFaults: new Map() })],
    ['no process was killed', ({ processFaults }) => ({ processFaults: { ...processFaults, kills: none } })],
    [
      'no process was frozen',
      ({ processFaults }) => ({ processFaults: { ...processFaults, freezes: none, longFreezes: 0 } }),
    ],
    ['the service made no fault', () => ({ faults: new Map() })],
  ])('a chaos run in which %s plays a further round, and fails without time for one', (_what, change) => {
    const poor = { ...findings, ...change(findings) };
    expect(missingCoverageOf(poor, TOWS)).not.toEqual([]);
    expect(failuresOf(poor, TOWS)).toEqual([...brokenPromisesOf(poor), ...missingCoverageOf(poor, TOWS)]);
  });
});

test('a seed always gives the same tows, kills and freezes, and another seed gives others', () => {
  const drawn = (seed: number) => ({ scenarios: towScenariosOf(seed, 50, 10_000), schedule: scheduleOf(seed, 60_000) });

  expect(drawn(7)).toEqual(drawn(7));
  expect(drawn(7).scenarios).not.toEqual(drawn(8).scenarios);
  expect(drawn(7).schedule).not.toEqual(drawn(8).schedule);
});

test('one tow in five starts from a violation, half of them with an id of the patrol, with up to three images', () => {
  const reported = towScenariosOf(7, 1000, 10_000).flatMap(({ violationScenario, steps }) =>
    violationScenario ? [{ ...violationScenario, steps }] : [],
  );
  const completed = reported.flatMap(({ steps }) => steps.filter(({ kind }) => kind === 'started'));
  const own = reported.filter(({ metadata }) => metadata?.['id'] !== undefined);

  expect(reported).toHaveLength(200);
  expect(completed.every(({ entry }) => Object.keys(entry).length === 0)).toBe(true);
  expect(Math.abs(own.length - 100)).toBeLessThan(30);
  expect(new Set(reported.map(({ images }) => images.length))).toEqual(new Set([0, 1, 2, 3]));
  expect(new Set(reported.map(({ fields }) => fields['plateNumber'])).size).toBe(200);
});

test('the tows of a further round have new names and plates', () => {
  const platesOf = (scenarios: ReturnType<typeof towScenariosOf>) =>
    scenarios.flatMap(({ violationScenario, steps }) => [
      ...(violationScenario ? [violationScenario.fields['plateNumber']] : []),
      ...steps.flatMap(({ entry }) => ('plate_number' in entry ? [entry['plate_number']] : [])),
    ]);
  const first = platesOf(towScenariosOf(7, 200, 10_000));
  const further = platesOf(towScenariosOf(8, 60, 10_000, 200));

  expect(further.length).toBeGreaterThan(20);
  expect(further.filter((plate) => first.includes(plate))).toEqual([]);
});

test('the schedule has no kill or freeze for a process that is down, and each kind at least once in a short run', () => {
  for (const seed of Array.from({ length: 200 }, (_, index) => index)) {
    const processFaults = scheduleOf(seed, CHAOS_MS).flatMap((fault) => (fault.kind === 'service' ? [] : [fault]));
    const overlaps = processFaults.filter((one) =>
      processFaults.some(
        (other) =>
          other !== one &&
          other.target === one.target &&
          other.atMs <= one.atMs &&
          one.atMs < other.atMs + other.lastsMs,
      ),
    );
    expect(overlaps).toEqual([]);
    expect(processFaults.some(({ kind, target }) => kind === 'kill' && target === 'redis')).toBe(true);
    expect(processFaults.some(({ kind, target }) => kind === 'kill' && target === 'receiver')).toBe(true);
    expect(
      processFaults.filter(({ kind, target }) => kind === 'kill' && target.startsWith('worker')).length,
    ).toBeGreaterThan(1);
    expect(processFaults.some(({ kind, lastsMs }) => kind === 'freeze' && lastsMs > 20_000)).toBe(true);
  }
});
