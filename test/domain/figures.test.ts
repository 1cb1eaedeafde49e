import { COUNTS, LATENCY_STEPS_MS, latencyStep, LEVELS, quantileMs } from '../../src/domain/figures';

const histogram = (...timesMs: number[]): number[] => {
  const counts = [...LATENCY_STEPS_MS, Infinity].map(() => 0);
  for (const ms of timesMs) counts[latencyStep(ms)] = (counts[latencyStep(ms)] ?? 0) + 1;
  return counts;
};

test('a share of no times at all is unknown, not 0', () => {
  expect(quantileMs(histogram(), 0.5)).toBeNull();
});

test.each([
  [0.5, [3, 3, 3, 3], 2, 5],
  [0.95, [...Array<number>(95).fill(15), ...Array<number>(5).fill(900)], 10, 20],
  [0.95, [...Array<number>(94).fill(15), ...Array<number>(6).fill(900)], 500, 1000],
  [1, [40, 7], 20, 50],
])('the %d quantile lies in the step that holds it', (share, times, fromMs, toMs) => {
  const found = quantileMs(histogram(...times), share);
  expect(found).toBeGreaterThan(fromMs);
  expect(found).toBeLessThanOrEqual(toMs);
});

test('what takes longer than the last step is as long as that at least', () => {
  expect(quantileMs(histogram(99_000_000), 0.5)).toBe(14_400_000);
});

test('a time that is negative, as two clocks disagree, takes no time', () => {
  expect(latencyStep(-5)).toBe(0);
});

test('all names of a bucket together stay below what Redis keeps in its compact form', () => {
  const histograms = 3 * (LATENCY_STEPS_MS.length + 1);
  expect(COUNTS.length + LEVELS.length + histograms + 1).toBeLessThanOrEqual(128);
});
