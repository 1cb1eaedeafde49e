import { COUNTERS, LATENCY_STEPS_MS, latencyStep, GAUGES, quantileMs } from '../../src/domain/ops/metric-names';

const histogram = (...timesMs: number[]): number[] => {
  const counts = [...LATENCY_STEPS_MS, Infinity].map(() => 0);
  for (const ms of timesMs) counts[latencyStep(ms)] = (counts[latencyStep(ms)] ?? 0) + 1;
  return counts;
};

test('a quantile of an empty histogram is null', () => {
  expect(quantileMs(histogram(), 0.5)).toBeNull();
});

test.each([
  [0.5, [3, 3, 3, 3], 2, 5],
  [0.95, [...Array<number>(95).fill(15), ...Array<number>(5).fill(900)], 10, 20],
  [0.95, [...Array<number>(94).fill(15), ...Array<number>(6).fill(900)], 500, 1000],
  [1, [40, 7], 20, 50],
])('a histogram places the %d quantile in the bucket that contains it', (share, times, fromMs, toMs) => {
  const found = quantileMs(histogram(...times), share);
  expect(found).toBeGreaterThan(fromMs);
  expect(found).toBeLessThanOrEqual(toMs);
});

test('a histogram counts a time beyond the last bucket as its upper bound', () => {
  expect(quantileMs(histogram(99_000_000), 0.5)).toBe(14_400_000);
});

test('a histogram counts a negative time as 0', () => {
  expect(latencyStep(-5)).toBe(0);
});

test('all metric names of a minute fit into the compact encoding of Redis', () => {
  const histograms = 3 * (LATENCY_STEPS_MS.length + 1);
  expect(COUNTERS.length + GAUGES.length + histograms + 1).toBeLessThanOrEqual(128);
});
