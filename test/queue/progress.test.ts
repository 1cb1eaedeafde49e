import { systemClock, type Clock } from '../../src/platform/clock';
import { createProgress } from '../../src/queue/progress';

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

describe('the standstill of the workers', () => {
  test('is none while nothing was handed out, however long', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    forward(3_600_000);

    expect(progress.standstillMs()).toBe(0);
  });

  test('lasts from the first wake-up that was handed out until a job of its queue ends', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    progress.handedOut('reports');
    forward(500);
    progress.handedOut('reports');
    forward(500);
    expect(progress.standstillMs()).toBe(1000);

    progress.ended('reports');

    expect(progress.standstillMs()).toBe(0);
  });

  test('begins anew with what is handed out after a job has ended', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    progress.handedOut('reports');
    forward(1000);
    progress.ended('reports');
    forward(1000);
    progress.handedOut('reports');
    forward(300);

    expect(progress.standstillMs()).toBe(300);
  });

  test.each([
    ['deliveries', 'reports'],
    ['reports', 'deliveries'],
  ] as const)('of %s is not hidden by jobs of %s that end', (standing, moving) => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    progress.handedOut(standing);
    for (let turn = 0; turn < 10; turn += 1) {
      forward(1000);
      progress.handedOut(moving);
      progress.ended(moving);
    }

    expect(progress.standstillMs()).toBe(10_000);
  });

  test('is that of the queue that stands longest', () => {
    const { clock, forward } = stillClock();
    const progress = createProgress(clock);
    progress.handedOut('reports');
    forward(1000);
    progress.handedOut('deliveries');
    forward(1000);
    expect(progress.standstillMs()).toBe(2000);

    progress.ended('reports');

    expect(progress.standstillMs()).toBe(1000);
  });
});
