import { systemClock, type Clock } from '../../src/platform/clock';
import { createProgress, type Progress } from '../../src/queue/progress';

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
    const progress = createProgress(clock);
    forward(3_600_000);
    progress.seen('reports', false);

    expect(progress.standstill()).toBeNull();
  });

  test('the stall time of a worker counts from the first to the last check that saw waiting work', () => {
    const { clock, forward } = manualClock();
    const progress = createProgress(clock);
    for (let look = 0; look < 3; look += 1) {
      forward(500);
      progress.seen('reports', true);
    }
    // Time without a check does not count.
    forward(60_000);

    expect(progress.standstill()).toEqual({ part: 'reports', ms: 1000 });
  });

  test.each([
    ['one of its runs ends', (progress: Progress) => progress.ended('reports')],
    ['no work waits', (progress: Progress) => progress.seen('reports', false)],
    ['checks are forgotten', (progress: Progress) => progress.forget()],
  ])('the stall time of a worker restarts from zero when %s', (_what, end) => {
    const { clock, forward } = manualClock();
    const progress = createProgress(clock);
    progress.seen('reports', true);
    forward(1000);
    progress.seen('reports', true);
    end(progress);
    expect(progress.standstill()).toBeNull();

    progress.seen('reports', true);
    forward(300);
    progress.seen('reports', true);

    expect(progress.standstill()).toEqual({ part: 'reports', ms: 300 });
  });

  test.each([
    ['deliveries', 'reports'],
    ['reports', 'deliveries'],
    ['pump of reports', 'reports'],
    ['reports', 'pump of reports'],
  ] as const)('a stall of %s is reported although runs of %s end', (standing, moving) => {
    const { clock, forward } = manualClock();
    const progress = createProgress(clock);
    progress.seen(standing, true);
    for (let look = 0; look < 10; look += 1) {
      forward(1000);
      progress.seen(standing, true);
      progress.seen(moving, true);
      progress.ended(moving);
    }

    expect(progress.standstill()).toEqual({ part: standing, ms: 10_000 });
  });

  test('the reported stall is that of the part stalled longest', () => {
    const { clock, forward } = manualClock();
    const progress = createProgress(clock);
    progress.seen('reports', true);
    forward(1000);
    progress.seen('reports', true);
    progress.seen('deliveries', true);
    forward(1000);
    progress.seen('reports', true);
    progress.seen('deliveries', true);
    expect(progress.standstill()).toEqual({ part: 'reports', ms: 2000 });

    progress.ended('reports');

    expect(progress.standstill()).toEqual({ part: 'deliveries', ms: 1000 });
  });
});

test('a part of a worker has made progress once a run has ended or no work waits', () => {
  const progress = createProgress(systemClock);
  progress.seen('reports', true);
  progress.seen('deliveries', false);
  expect([progress.hasMoved('reports'), progress.hasMoved('deliveries')]).toEqual([false, true]);

  progress.ended('reports');

  expect(progress.hasMoved('reports')).toBe(true);
});
