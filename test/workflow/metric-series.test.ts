import { MINUTE_MS } from '../../src/domain/timestamp';
import { seriesOf } from '../../src/workflow/ops/metric-series';

const HOUR_MS = 60 * MINUTE_MS;
const atMs = 1_800_000_000_000;

/** Series of one-minute buckets, starting at a full hour. */
const series = (minutes: readonly (Record<string, number> | null)[], stepMinutes = 1) => {
  const buckets = minutes.map((numbers) => numbers && new Map(Object.entries(numbers)));
  const range = { fromMs: atMs, toMs: atMs + buckets.length * MINUTE_MS, stepMs: stepMinutes * MINUTE_MS };
  return seriesOf(range, buckets, atMs + HOUR_MS);
};

test('a metric series has a gap for a minute without a running process and 0 for an idle one', () => {
  const { lines } = series([{ lived: 1, 'accepted.tow_request': 4 }, null, { lived: 1 }]);
  expect(lines['accepted.tow_request']).toEqual([4, null, 0]);
});

test('a metric series averages a longer step over the minutes with a running process', () => {
  const { lines } = series(
    [{ 'delivered.started': 6 }, { 'delivered.started': 2 }, null, { 'delivered.started': 9 }],
    2,
  );
  expect(lines['delivered.started']).toEqual([4, 9]);
});

test('a metric series has the median of a step computed from all its minutes together', () => {
  // Ninety times of at most 1 ms in the first minute, ten of 10 to 20 s in the second.
  const { lines } = series([{ 'report.0': 90 }, { 'report.13': 10 }], 2);
  expect(lines['report.p50'][0]).toBeLessThanOrEqual(1);
  expect(lines['report.p95'][0]).toBeGreaterThan(10_000);
});

test('a metric series has a gap where no latency was measured', () => {
  expect(series([{ lived: 1 }]).lines['attempt.p95']).toEqual([null]);
});

test('a metric series has the maximum of a gauge per step and a gap without samples', () => {
  const { lines } = series([{ 'due.reports': 3 }, { 'due.reports': 8 }, { lived: 1 }, { lived: 1 }], 2);
  expect(lines['due.reports']).toEqual([8, null]);
});

test('a metric series has one timestamp per step and one point per timestamp', () => {
  const range = { fromMs: atMs + 3 * MINUTE_MS + 17, toMs: atMs + 21 * MINUTE_MS, stepMs: 10 * MINUTE_MS };
  const found = seriesOf(range, Array<null>(30).fill(null), atMs);
  expect(found.atMs).toEqual([atMs, atMs + 10 * MINUTE_MS, atMs + 20 * MINUTE_MS]);
  expect(new Set(Object.values(found.lines).map(({ length }) => length))).toEqual(new Set([3]));
});
