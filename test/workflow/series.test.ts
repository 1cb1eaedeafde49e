import { MINUTE_MS, seriesOf } from '../../src/workflow/series';

const HOUR_MS = 60 * MINUTE_MS;
const atMs = 1_800_000_000_000;

/** Lines of one-minute buckets from a whole hour on. */
const series = (minutes: readonly (Record<string, number> | null)[], stepMinutes = 1) => {
  const buckets = minutes.map((numbers) => numbers && new Map(Object.entries(numbers)));
  const range = { fromMs: atMs, toMs: atMs + buckets.length * MINUTE_MS, stepMs: stepMinutes * MINUTE_MS };
  return seriesOf(range, buckets, atMs + HOUR_MS);
};

test('a minute in which no process lived is a gap, one in which nothing happened is 0', () => {
  const { lines } = series([{ lived: 1, 'accepted.tow_request': 4 }, null, { lived: 1 }]);
  expect(lines['accepted.tow_request']).toEqual([4, null, 0]);
});

test('a longer step shows how much it was per minute, of the minutes that somebody lived to see', () => {
  const { lines } = series(
    [{ 'delivered.started': 6 }, { 'delivered.started': 2 }, null, { 'delivered.started': 9 }],
    2,
  );
  expect(lines['delivered.started']).toEqual([4, 9]);
});

test('the median of a step is that of all its minutes together, not the mean of their medians', () => {
  // Ninety times of at most 1 ms in the first minute, ten of 10 to 20 s in the second.
  const { lines } = series([{ 'report.0': 90 }, { 'report.13': 10 }], 2);
  expect(lines['report.p50'][0]).toBeLessThanOrEqual(1);
  expect(lines['report.p95'][0]).toBeGreaterThan(10_000);
});

test('where nothing was timed the latency is a gap', () => {
  expect(series([{ lived: 1 }]).lines['attempt.p95']).toEqual([null]);
});

test('of a backlog the highest of a step counts, and where nobody looked is a gap', () => {
  const { lines } = series([{ 'due.reports': 3 }, { 'due.reports': 8 }, { lived: 1 }, { lived: 1 }], 2);
  expect(lines['due.reports']).toEqual([8, null]);
});

test('the moments are whole steps, as many as each line has points', () => {
  const range = { fromMs: atMs + 3 * MINUTE_MS + 17, toMs: atMs + 21 * MINUTE_MS, stepMs: 10 * MINUTE_MS };
  const found = seriesOf(range, Array<null>(30).fill(null), atMs);
  expect(found.atMs).toEqual([atMs, atMs + 10 * MINUTE_MS, atMs + 20 * MINUTE_MS]);
  expect(new Set(Object.values(found.lines).map(({ length }) => length))).toEqual(new Set([3]));
});
