import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { done, openWorld, STOP_GRACE_MS, type World } from './world';

const redis = useRedis();

let world: World;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(() => world.close());

async function tookMs(run: () => Promise<void>): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  await run();
  return systemClock.monotonicMs() - startedMs;
}

describe('a job', () => {
  const counts = () => world.queues.byName.reports.getJobCounts('waiting', 'active', 'completed', 'failed', 'delayed');

  test.each([
    ['names no record', {}],
    ['names another kind of record', { delivery_id: 'd1' }],
    ['is no object', 'T1'],
    ['carries nothing', null],
  ])('that %s ends as done and never in the failed set', async (_what, payload) => {
    const running = world.start(() => done('sent'));
    await world.queues.byName.reports.add('send-report', payload);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 1, failed: 0, delayed: 0 });
    });

    await running.stop();
  });

  test('whose work fails ends as done, and the jobs behind it run', async () => {
    const worked: string[] = [];
    const running = world.start((ref) => {
      worked.push(ref);
      return ref === 'T1' ? Promise.reject(new Error('unexpected')) : done('sent');
    });
    await world.queues.wake([{ queue: 'reports', ref: 'T1' }]);
    await world.queues.wake([{ queue: 'reports', ref: 'T2' }]);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 2, failed: 0, delayed: 0 });
    });

    expect(worked).toEqual(['T1', 'T2']);
    await running.stop();
  });
});

describe('a stop', () => {
  /** A job that runs until it is told to end. */
  async function longJob() {
    let finish = () => {};
    let isFinished = false;
    let isRunning = false;
    const running = world.start(async () => {
      isRunning = true;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      isFinished = true;
      return done('sent');
    });
    await world.queues.wake([{ queue: 'reports', ref: 'T1' }]);
    await eventually(() => expect(isRunning).toBe(true));
    return { running, finish: () => finish(), isFinished: () => isFinished };
  }

  test('waits for the job that runs, and its end is stored', async () => {
    const job = await longJob();

    const stopping = job.running.stop();
    job.finish();
    await stopping;

    expect(job.isFinished()).toBe(true);
    expect(await world.queues.byName.reports.getJobCounts('active', 'completed')).toEqual({ active: 0, completed: 1 });
  });

  test('waits no longer than the grace for a job that does not end', async () => {
    const job = await longJob();

    const took = await tookMs(() => job.running.stop());

    job.finish();
    expect(took).toBeGreaterThanOrEqual(STOP_GRACE_MS - 50);
    expect(took).toBeLessThan(STOP_GRACE_MS + 1000);
  });
});
