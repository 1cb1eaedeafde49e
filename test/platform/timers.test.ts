import { silentLog } from '../../src/platform/log/log';
import { repeat } from '../../src/platform/timers';

/** Repeats at most every minute, and records the number of runs. */
function started(firstAfterMs?: number) {
  const counts = { runs: 0 };
  const work = () => {
    counts.runs += 1;
    return Promise.resolve();
  };
  const first = firstAfterMs === undefined ? {} : { firstAfterMs };
  const repetition = repeat({ name: 'test', everyMs: 60_000, ...first, log: silentLog, work });
  return { counts, stop: () => repetition.stop() };
}

test('repeat runs at once by default', async () => {
  const { counts, stop } = started();
  await stop();
  expect(counts.runs).toBe(1);
});

test('repeat makes its first run after firstAfterMs', async () => {
  const { counts, stop } = started(20);
  expect(counts.runs).toBe(0);
  await new Promise((resolve) => setTimeout(resolve, 200));
  await stop();
  expect(counts.runs).toBe(1);
});

test('repeat makes no run when it is stopped before the first one', async () => {
  const { counts, stop } = started(60_000);
  await stop();
  expect(counts.runs).toBe(0);
});
