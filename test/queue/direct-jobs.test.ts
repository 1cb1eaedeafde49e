import { silentLog } from '../../src/platform/log';
import { createDirectJobs, type DirectJobsTools } from '../../src/queue/direct-jobs';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openWorld, type World } from './queue-stage';

const redis = useRedis();

let world: World;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(() => world.close());

type DirectJobs = ReturnType<typeof createDirectJobs>;

const reports = () => world.queues.byName.reports;
const prepare = (jobs: DirectJobs, ref: string) => jobs.prepare({ queue: 'reports', ref });

/** Its first record is left to the scheduler, because nothing is known about the queue. */
function openedJobs(tools: Partial<DirectJobsTools> = {}): DirectJobs {
  const hasWorker = () => Promise.resolve(true);
  const jobs = createDirectJobs({ queues: world.queues, hasWorker, log: silentLog, ...tools });
  expect(prepare(jobs, 'T0')).toBeNull();
  return jobs;
}

test('adds a job for the record once the queue is known to be empty', async () => {
  const jobs = openedJobs();
  const add = await eventually(() => {
    const prepared = prepare(jobs, 'T1');
    expect(prepared).not.toBeNull();
    return prepared;
  });
  expect(await reports().getWaitingCount()).toBe(0);

  add?.();

  await eventually(async () => expect(await reports().getWaitingCount()).toBe(1));
  const [job] = await reports().getJobs('waiting');
  expect(job?.data).toEqual({ towing_reference_id: 'T1' });
});

test('leaves records to the scheduler while jobs wait', async () => {
  const jobs = openedJobs();
  await eventually(() => expect(prepare(jobs, 'T1')).not.toBeNull());
  await world.queues.wake([{ queue: 'reports', ref: 'T0' }]);
  // Known with the next job, which is the last one that is added.
  prepare(jobs, 'T1')?.();
  await eventually(() => expect(prepare(jobs, 'T2')).toBeNull());
  await eventually(async () => expect(await reports().getWaitingCount()).toBe(2));
  await reports().drain();

  await eventually(() => expect(prepare(jobs, 'T2')).not.toBeNull());
});

test('leaves records to the scheduler while the queue is paused', async () => {
  await reports().pause();
  const counts = jest.spyOn(world.queues, 'waiting');
  const jobs = openedJobs();
  await eventually(() => {
    expect(prepare(jobs, 'T1')).toBeNull();
    expect(counts.mock.calls.length).toBeGreaterThan(1);
  });

  await reports().resume();

  await eventually(() => expect(prepare(jobs, 'T1')).not.toBeNull());
});

test('leaves records to the scheduler while there is no worker', async () => {
  let counts = 0;
  let isThere = false;
  const jobs = openedJobs({
    hasWorker: () => {
      counts += 1;
      return Promise.resolve(isThere);
    },
  });
  await eventually(() => {
    expect(prepare(jobs, 'T1')).toBeNull();
    expect(counts).toBeGreaterThan(2);
  });
  isThere = true;

  await eventually(() => expect(prepare(jobs, 'T1')).not.toBeNull());
});

test('a job that Redis cannot take fails silently, and records are left to the scheduler until it can be reached', async () => {
  let isAway = false;
  const away = () => Promise.reject(new Error('Redis is away'));
  const queues: DirectJobsTools['queues'] = {
    waiting: (name) => (isAway ? away() : world.queues.waiting(name)),
    wake: (wakeUps) => (isAway ? away() : world.queues.wake(wakeUps)),
  };
  const jobs = openedJobs({ queues });
  const add = await eventually(() => {
    const prepared = prepare(jobs, 'T1');
    expect(prepared).not.toBeNull();
    return prepared;
  });
  isAway = true;

  add?.();

  await eventually(() => expect(prepare(jobs, 'T2')).toBeNull());
  isAway = false;
  await eventually(() => expect(prepare(jobs, 'T2')).not.toBeNull());
});
