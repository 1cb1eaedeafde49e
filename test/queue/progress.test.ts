import { systemClock, type Clock } from '../../src/platform/clock';
import { createWorkerProgress, type WorkerProgress } from '../../src/queue/progress';

/** A clock that changes only by `forward`. */
function manualClock(): { clock: Clock; forward: (ms: number) => void } {
  let nowMs = 1000;
  return {
    clock: { ...systemClock, monotonicMs: () => nowMs },
    forward: (ms) => {
      nowMs += ms;
    },
  };
}

describe('stalled worker detection', () => {
  test('a worker without waiting work is not stalled, however long it completes no run', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    forward(3_600_000);
    progress.observed('reports', false);

    expect(progress.longestStall()).toBeNull();
  });

  test('the stall time of a worker counts from the first to the last check that saw waiting work', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    for (let look = 0; look < 3; look += 1) {
      forward(500);
      progress.observed('reports', true);
    }
    // Time without a check does not count.
    forward(60_000);

    expect(progress.longestStall()).toEqual({ part: 'reports', ms: 1000 });
  });

  test.each([
    ['one of its runs ends', (progress: WorkerProgress) => progress.runEnded('reports')],
    ['no work waits', (progress: WorkerProgress) => progress.observed('reports', false)],
    ['checks are forgotten', (progress: WorkerProgress) => progress.forgetChecks()],
  ])('the stall time of a worker restarts from zero when %s', (_what, end) => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    progress.observed('reports', true);
    forward(1000);
    progress.observed('reports', true);
    end(progress);
    expect(progress.longestStall()).toBeNull();

    progress.observed('reports', true);
    forward(300);
    progress.observed('reports', true);

    expect(progress.longestStall()).toEqual({ part: 'reports', ms: 300 });
  });

  test.each([
    ['deliveries', 'reports'],
    ['reports', 'deliveries'],
    ['scheduler of reports', 'reports'],
    ['reports', 'scheduler of reports'],
  ] as const)('a stall of %s is reported although runs of %s end', (stalled, moving) => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    progress.observed(stalled, true);
    for (let look = 0; look < 10; look += 1) {
      forward(1000);
      progress.observed(stalled, true);
      progress.observed(moving, true);
      progress.runEnded(moving);
    }

    expect(progress.longestStall()).toEqual({ part: stalled, ms: 10_000 });
  });

  test('the stall watch reports the part of a worker that has been stalled longest', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    progress.observed('reports', true);
    forward(1000);
    progress.observed('reports', true);
    progress.observed('deliveries', true);
    forward(1000);
    progress.observed('reports', true);
    progress.observed('deliveries', true);
    expect(progress.longestStall()).toEqual({ part: 'reports', ms: 2000 });

    progress.runEnded('reports');

    expect(progress.longestStall()).toEqual({ part: 'deliveries', ms: 1000 });
  });
});

test('a part of a worker has made progress once a run has ended or no work waits', () => {
  const progress = createWorkerProgress(systemClock);
  progress.observed('reports', true);
  progress.observed('deliveries', false);
  expect([progress.hasProgressed('reports'), progress.hasProgressed('deliveries')]).toEqual([false, true]);

  progress.runEnded('reports');

  expect(progress.hasProgressed('reports')).toBe(true);
});
