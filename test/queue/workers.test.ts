import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { done, openWorld, STOP_GRACE_MS, type World } from './queue-stage';

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

describe('worker jobs', () => {
  const counts = () => world.queues.byName.reports.getJobCounts('waiting', 'active', 'completed', 'failed', 'delayed');

  test.each([
    ['an empty object', {}],
    ['the id of another kind of record', { delivery_id: 'd1' }],
    ['a string', 'T1'],
    ['null', null],
  ])('a job whose payload is %s completes instead of failing', async (_what, payload) => {
    const running = world.start(() => done('sent'));
    await world.queues.byName.reports.add('send-report', payload);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 1, failed: 0, delayed: 0 });
    });

    await running.stop();
  });

  test('a job whose handler throws completes, and the jobs after it run', async () => {
    const worked: string[] = [];
    const running = world.start((ref) => {
      worked.push(ref);
      return ref === 'T1' ? Promise.reject(new Error('unexpected')) : done('sent');
    });
    await world.queues.add('reports', ['T1']);
    await world.queues.add('reports', ['T2']);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 2, failed: 0, delayed: 0 });
    });

    expect(worked).toEqual(['T1', 'T2']);
    await running.stop();
  });
});

test('a process sends two violations at a time, however many reports it may send', async () => {
  const begun: string[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const running = world.start(async (ref) => {
    begun.push(ref);
    await gate;
    return done('sent');
  });
  await world.queues.add('violations', ['V1', 'V2', 'V3', 'V4']);
  await world.queues.add('reports', ['T1', 'T2', 'T3', 'T4']);
  await eventually(() => {
    expect(begun.filter((ref) => ref.startsWith('T'))).toHaveLength(4);
    expect(begun.filter((ref) => ref.startsWith('V')).length).toBeGreaterThanOrEqual(2);
  });

  expect(begun.filter((ref) => ref.startsWith('V'))).toEqual(['V1', 'V2']);
  open();
  await eventually(() => {
    expect(begun).toHaveLength(8);
  });
  await running.stop();
});

/** Generous, for a busy machine: the job of the test would run without end. */
const SLACK_MS = 10_000;

describe('stopping workers', () => {
  /** Starts a job that runs until `finish` is called. */
  async function longJob(endCalls = () => {}) {
    let finish = () => {};
    let isFinished = false;
    let isRunning = false;
    const running = world.start(
      async () => {
        isRunning = true;
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        isFinished = true;
        return done('sent');
      },
      { endCalls },
    );
    await world.queues.add('reports', ['T1']);
    await eventually(() => expect(isRunning).toBe(true));
    return { running, finish: () => finish(), isFinished: () => isFinished };
  }

  test('stopping a worker waits for the running job and stores its completion', async () => {
    const job = await longJob();

    const stopping = job.running.stop();
    job.finish();
    await stopping;

    expect(job.isFinished()).toBe(true);
    expect(await world.queues.byName.reports.getJobCounts('active', 'completed')).toEqual({ active: 0, completed: 1 });
  });

  test('a worker that stops begins no further job, and leaves it to other workers', async () => {
    const begun: string[] = [];
    let finish = () => {};
    const held = new Promise<void>((resolve) => (finish = resolve));
    const running = world.start(async (ref) => {
      begun.push(ref);
      await held;
      return done('sent');
    });
    await world.queues.add('reports', ['T1']);
    await eventually(() => expect(begun).toEqual(['T1']));

    const stopping = running.stop();
    // A worker of BullMQ that waits for a job takes it although it is paused.
    await world.queues.add('violations', ['V1', 'V2', 'V3']);
    const jobs = () => world.queues.byName.violations.getJobs(['waiting', 'active', 'completed']);
    await eventually(async () => expect((await jobs()).some(({ attemptsStarted }) => attemptsStarted > 0)).toBe(true));
    finish();
    await stopping;

    expect(begun).toEqual(['T1']);
    expect(await world.queues.byName.violations.getJobCounts('waiting', 'active')).toEqual({ waiting: 3, active: 0 });
  });

  test('stopping a worker ends the calls that outlast STOP_GRACE_MS, and waits for their results', async () => {
    const job = await longJob(() => job.finish());

    await job.running.stop();

    expect(job.isFinished()).toBe(true);
    expect(await world.queues.byName.reports.getJobCounts('active', 'completed')).toEqual({ active: 0, completed: 1 });
  });

  test('stopping a worker waits at most STOP_GRACE_MS for a job that does not end', async () => {
    const job = await longJob();

    const took = await tookMs(() => job.running.stop());

    expect(job.isFinished()).toBe(false);
    job.finish();
    expect(took).toBeGreaterThanOrEqual(STOP_GRACE_MS - 50);
    expect(took).toBeLessThan(STOP_GRACE_MS + SLACK_MS);
  });
});
