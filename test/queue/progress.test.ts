import { systemClock, type Clock } from '../../src/platform/clock';
import { createWorkerProgress, type WorkerPart, type WorkerProgress } from '../../src/queue/supervise';

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
  const waiting = (...parts: readonly WorkerPart[]) => new Set(parts);

  test('a worker without waiting work is not stalled, however long it completes no run', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    forward(3_600_000);
    progress.checked(waiting());

    expect(progress.longestStall()).toBeNull();
  });

  test('the stall time of a worker counts from the first to the last check that saw waiting work', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    for (let look = 0; look < 3; look += 1) {
      forward(500);
      progress.checked(waiting('reports'));
    }
    // Time without a check does not count.
    forward(60_000);

    expect(progress.longestStall()).toEqual({ part: 'reports', ms: 1000 });
  });

  test.each([
    ['one of its runs ends', (progress: WorkerProgress) => progress.progressed('reports')],
    ['no work waits', (progress: WorkerProgress) => progress.checked(waiting())],
  ])('the stall time of a worker restarts from zero when %s', (_what, end) => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    progress.checked(waiting('reports'));
    forward(1000);
    progress.checked(waiting('reports'));
    end(progress);
    expect(progress.longestStall()).toBeNull();

    progress.checked(waiting('reports'));
    forward(300);
    progress.checked(waiting('reports'));

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
    progress.checked(waiting(stalled));
    for (let look = 0; look < 10; look += 1) {
      forward(1000);
      progress.checked(waiting(stalled, moving));
      progress.progressed(moving);
    }

    expect(progress.longestStall()).toEqual({ part: stalled, ms: 10_000 });
  });

  test('the part of a worker that has been stalled longest is reported', () => {
    const { clock, forward } = manualClock();
    const progress = createWorkerProgress(clock);
    progress.checked(waiting('reports'));
    forward(1000);
    progress.checked(waiting('reports', 'deliveries'));
    forward(1000);
    progress.checked(waiting('reports', 'deliveries'));
    expect(progress.longestStall()).toEqual({ part: 'reports', ms: 2000 });

    progress.progressed('reports');

    expect(progress.longestStall()).toEqual({ part: 'deliveries', ms: 1000 });
  });
});
