import { systemClock, type Clock } from '../../src/platform/clock';
import { createProgress, type Progress } from '../../src/queue/progress';

/** A clock that stands until it is set forward. */
function stillClock(): { clock: Clock; forward: (ms: number) => void } {
  let nowMs = 1000;
  return {
    clock: { ...systemClock, monotonicMs: () => nowMs },
    forward: (ms) => {
      nowMs += ms;
    },
  };
}

describe('the standstill of a worker', () => {
  test('is none while no work is seen to wait, however long no turn ends', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    forward(3_600_000);
    progress.seen('reports', false);

    expect(progress.standstill()).toBeNull();
  });

  test('lasts from the first to the last sight of work that waits', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    for (let look = 0; look < 3; look += 1) {
      forward(500);
      progress.seen('reports', true);
    }
    // Nobody has looked since.
    forward(60_000);

    expect(progress.standstill()).toEqual({ part: 'reports', ms: 1000 });
  });

  test.each([
    ['a turn of it ends', (progress: Progress) => progress.ended('reports')],
    ['its work no longer waits', (progress: Progress) => progress.seen('reports', false)],
    ['nothing can be known', (progress: Progress) => progress.forget()],
  ])('is over when %s, and begins anew with the next sight', (_what, end) => {
    const { clock, forward } = stillClock();
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
  ] as const)('of %s is not hidden by turns of %s that end', (standing, moving) => {
    const { clock, forward } = stillClock();
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

  test('is that of the part that stands longest', () => {
    const { clock, forward } = stillClock();
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

test('a part has moved once a turn of it has ended or none was wanted, and not before', () => {
  const progress = createProgress(systemClock);
  progress.seen('reports', true);
  progress.seen('deliveries', false);
  expect([progress.hasMoved('reports'), progress.hasMoved('deliveries')]).toEqual([false, true]);

  progress.ended('reports');

  expect(progress.hasMoved('reports')).toBe(true);
});
