import type { QueueName } from '../../src/domain/vocabulary';
import { silentLog } from '../../src/platform/log';
import { startImmediateRuns } from '../../src/queue/immediate-runs';
import { eventually, inTime } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { done, openWorld, type Work, type World } from './queue-stage';

/** How long a job waits for a place that runs without a job have taken. */
const WAIT_FOR_RUNS_MS = 1000;

// No worker of another test file may take these jobs.
const redis = useOwnRedis();
let world: World;
let stop: () => Promise<void>;

beforeEach(async () => {
  world = await openWorld(redis.url);
  stop = () => Promise.resolve();
});
afterEach(async () => {
  await stop();
  await world.close();
});

/** Hands records to immediate runs; `nudges` are the queues that the scheduler was nudged for. */
function begin(
  work: Work,
  { hasRoom = () => true, queue = 'reports' }: { hasRoom?: () => boolean; queue?: QueueName } = {},
) {
  const workers = world.start(work);
  const nudges: string[] = [];
  let hand: (refs: readonly string[]) => void = () => {};
  const take = () => new Promise<readonly string[]>((resolve) => (hand = resolve));
  const scheduler = { hasRoom, nudge: (name: string) => void nudges.push(name) };
  const runs = startImmediateRuns({ queue, take, workers, scheduler, log: silentLog });
  stop = async () => {
    const stopped = runs.stop();
    hand([]);
    await stopped;
  };
  return { workers, nudges, hand: (...refs: readonly string[]) => hand(refs) };
}

const jobs = () => world.queues.byName.reports.getJobCounts('waiting', 'active', 'completed');

test('each tow that is taken is run at once and without a job', async () => {
  const worked: string[] = [];
  const { hand, nudges } = begin((ref) => {
    worked.push(ref);
    return done('sent');
  });

  hand('T1', 'T2');
  await eventually(() => expect(worked).toEqual(['T1', 'T2']));
  hand('T3');
  await eventually(() => expect(worked).toEqual(['T1', 'T2', 'T3']));

  expect(nudges).toEqual([]);
  expect(await jobs()).toEqual({ waiting: 0, active: 0, completed: 0 });
});

test('deliveries that are taken run like tows, each on its own', async () => {
  const worked: string[] = [];
  const { hand, nudges } = begin(
    (id) => {
      worked.push(id);
      return done('created');
    },
    { queue: 'deliveries' },
  );

  hand('dlv_1', 'dlv_2');

  await eventually(() => expect(worked).toEqual(['dlv_1', 'dlv_2']));
  expect(nudges).toEqual([]);
});

test('tows are left to the scheduler while the queue has a backlog', async () => {
  const worked: string[] = [];
  let hasRoom = false;
  const { hand, nudges } = begin(
    (ref) => {
      worked.push(ref);
      return done('sent');
    },
    { hasRoom: () => hasRoom },
  );

  hand('T1', 'T2');
  await eventually(() => expect(nudges).toEqual(['reports']));
  hasRoom = true;
  hand('T3');

  await eventually(() => expect(worked).toEqual(['T3']));
});

test('a worker begins no more runs than the jobs that it may run at once, and leaves the others to the scheduler', async () => {
  const worked: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { hand, nudges } = begin(async (ref) => {
    worked.push(ref);
    await held;
    return done('sent');
  });
  await world.queues.wake('reports', ['J1']);
  await eventually(() => expect(worked).toEqual(['J1']));

  hand('T1', 'T2', 'T3', 'T4', 'T5');

  await eventually(() => expect(nudges).toEqual(['reports']));
  expect(worked).toEqual(['J1', 'T1', 'T2', 'T3']);
  release();
});

test('a job waits until runs without a job have left room for it', async () => {
  const worked: string[] = [];
  const ends: (() => void)[] = [];
  const { hand } = begin(async (ref) => {
    worked.push(ref);
    await new Promise<void>((resolve) => ends.push(resolve));
    return done('sent');
  });
  let completed = 0;
  // Repeated, because on a slow machine the jobs may wait longer than they may, and are then put back in another order.
  const order = await inTime(WAIT_FOR_RUNS_MS, async (startClock) => {
    worked.length = 0;
    hand('T1', 'T2', 'T3', 'T4');
    await eventually(() => expect(worked).toEqual(['T1', 'T2', 'T3', 'T4']));

    startClock();
    await world.queues.wake('reports', ['J1', 'J2']);
    await eventually(async () => expect(await jobs()).toEqual({ waiting: 0, active: 2, completed }));
    expect(worked).toHaveLength(4);
    ends.shift()?.();
    await eventually(() => expect(worked).toHaveLength(5));
    while (ends.length > 0) ends.shift()?.();

    await eventually(() => expect(worked).toHaveLength(6));
    ends.shift()?.();
    completed += 2;
    await eventually(async () => expect(await jobs()).toEqual({ waiting: 0, active: 0, completed }));
    return worked.slice(4);
  });
  expect(order).toEqual(['J1', 'J2']);
});

test('a job is left to an idle worker while runs without a job hold every place of its worker', async () => {
  const worked: string[] = [];
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const { hand } = begin(async () => {
    await held;
    return done('sent');
  });
  hand('T1', 'T2', 'T3', 'T4');
  await world.queues.wake('reports', ['J1']);
  await eventually(async () => expect(await jobs()).toEqual({ waiting: 0, active: 1, completed: 0 }));

  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });

  await eventually(() => expect(worked).toEqual(['J1']));
  release();
});

test('a run whose work fails ends, and makes room for others', async () => {
  const worked: string[] = [];
  const { hand } = begin((ref) => {
    worked.push(ref);
    return Promise.reject(new Error('unexpected'));
  });

  for (const ref of ['T1', 'T2', 'T3', 'T4', 'T5', 'T6']) {
    hand(ref);
    await eventually(() => expect(worked.at(-1)).toBe(ref));
  }
});

test('a worker that stops waits for immediate runs and begins no further one', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const worked: string[] = [];
  const { hand, workers } = begin(async (ref) => {
    worked.push(ref);
    await held;
    worked.push(`${ref} ended`);
    return done('sent');
  });
  hand('T1');
  await eventually(() => expect(worked).toEqual(['T1']));

  const stopped = workers.stop();
  expect(workers.begin('reports', { towing_reference_id: 'T2' })).toBe(false);
  release();
  await stopped;

  expect(worked).toEqual(['T1', 'T1 ended']);
});
