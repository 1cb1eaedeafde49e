import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createWorkerProgress } from '../../src/queue/supervise';
import { pause } from '../../src/platform/timers';
import { startScheduler, type DueWork } from '../../src/queue/scheduler';
import type { Queues } from '../../src/queue/queues';
import { eventually, inTime } from '../support/eventually';
import { useRedis } from '../support/redis';
import { done, openWorld, type World } from './queue-stage';

const redis = useRedis();

let world: World;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(() => world.close());

/** The scheduler waits 1 s for a run that hangs; container runtimes kill a process after 10 s. */
const STOP_LIMIT_MS = 8000;
const DUE = { deliveries: 0, reports: 0, violations: 0, runs: 0, subscriptions: 0 };
const NOTHING: DueWork = { pollDue: () => Promise.resolve([]) };

interface Options {
  queues: Queues;
  reports?: DueWork;
  deliveries?: DueWork;
  intervalMs?: number;
}

function start({ queues, reports = NOTHING, deliveries = NOTHING, intervalMs = 20 }: Options) {
  return startScheduler({
    queues,
    schedules: { deliveries, reports, violations: NOTHING, runs: NOTHING, subscriptions: NOTHING },
    waitsUntilDue: () => Promise.resolve(DUE),
    intervalMs,
    progress: createWorkerProgress(systemClock),
    log: silentLog,
  });
}

/** Queues that take no job at the first three attempts. */
function failingQueues(): { queues: Queues; failures: () => number } {
  let failures = 0;
  const add: Queues['add'] = async (name, refs) => {
    if (failures < 3) {
      failures += 1;
      throw new Error('Redis is away');
    }
    await world.queues.add(name, refs);
  };
  return { queues: { ...world.queues, add }, failures: () => failures };
}

test('the scheduler queues work it has already taken once Redis accepts it again', async () => {
  const { queues: failing, failures } = failingQueues();
  // Taking work reschedules it, so a second take finds nothing for ten seconds.
  let slice = ['T1', 'T2'];
  const reports: DueWork = {
    pollDue: () => {
      const taken = slice;
      slice = [];
      return Promise.resolve(taken);
    },
  };

  const scheduler = start({ queues: failing, reports });
  await eventually(async () => expect(await world.queues.byName.reports.getWaitingCount()).toBe(2));

  expect(failures()).toBe(3);
  await scheduler.stop();
});

test('while more tows are due than it may take, the scheduler queues several in one job, and else a job for each', async () => {
  let due = Array.from({ length: 600 }, (_, place) => `T${place}`);
  const reports: DueWork = {
    pollDue: (limit) => {
      const taken = due.slice(0, limit);
      due = due.slice(limit);
      return Promise.resolve(taken);
    },
  };
  const worked: string[] = [];
  const scheduler = start({ queues: world.queues, reports });
  world.start((refs) => {
    worked.push(refs);
    return done('sent');
  });
  const tows = () => worked.flatMap((refs) => refs.split(','));
  await eventually(() => expect(tows()).toHaveLength(600));
  expect(worked.length).toBeLessThan(300);

  due = ['A', 'B', 'C'];

  await eventually(() => expect(tows()).toHaveLength(603));
  expect(worked.slice(-3).toSorted()).toEqual(['A', 'B', 'C']);
  await scheduler.stop();
});

test('the scheduler stops although taking due work hangs', async () => {
  await inTime(STOP_LIMIT_MS, async (startClock) => {
    let isTaking = false;
    const hanging: DueWork = {
      pollDue: () => {
        isTaking = true;
        return new Promise(() => {});
      },
    };
    const scheduler = start({ queues: world.queues, reports: hanging });
    await eventually(() => expect(isTaking).toBe(true));
    startClock();

    await scheduler.stop();
  });
});

test('the scheduler of one queue continues while taking the due work of another queue hangs', async () => {
  let release = () => {};
  const hanging: DueWork = {
    pollDue: () =>
      new Promise((resolve) => {
        release = () => resolve([]);
      }),
  };
  let number = 0;
  const deliveries: DueWork = {
    pollDue: () => {
      number += 1;
      return Promise.resolve([`dlv_${number}`]);
    },
  };
  const scheduler = start({ queues: world.queues, reports: hanging, deliveries });

  await eventually(async () => expect(await world.queues.byName.deliveries.getWaitingCount()).toBeGreaterThan(3));
  const stopped = scheduler.stop();
  release();
  await stopped;
});

test('a paused queue is polled once per interval, for no due work', async () => {
  const limits: number[] = [];
  const deliveries: DueWork = {
    pollDue: (limit) => {
      limits.push(limit);
      return Promise.resolve([]);
    },
  };
  const queues = { ...world.queues, room: () => Promise.resolve(null) };
  const scheduler = start({ queues, deliveries, intervalMs: 60_000 });
  await eventually(() => expect(limits).toHaveLength(1));

  // Much longer than a queue waits that has little room.
  await pause(200);

  expect(limits).toEqual([0]);
  await scheduler.stop();
});
