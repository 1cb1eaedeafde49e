import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createResources } from '../../src/platform/resources';
import { backlogReader } from '../../src/queue/queues';
import type { Stall, WorkerProgress } from '../../src/queue/supervise';
import { startScheduler } from '../../src/queue/scheduler';
import { superviseWorker, type SupervisedWorker } from '../../src/queue/supervise';
import { writability } from '../../src/store/redis/connect';
import { createSchedules } from '../../src/store/outbox/schedules';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { done, openWorld, type World } from './queue-stage';

const redis = useOwnRedis();
const LIMIT_MS = 500;
/** The watch checks 5 times per limit, so it would report a stall within this number of checks. */
const MANY_CHECKS = 8;
/** Ends a wait that hangs. The watch forgets what it saw when checks are late, so a busy machine needs longer. */
const TIMEOUT_MS = 60_000;

let world: World;
let ends: (() => unknown)[];
beforeEach(async () => {
  world = await openWorld(redis.url);
  ends = [];
});
afterEach(async () => {
  await Promise.all(ends.map((end) => end()));
  await world.close();
});

interface WatchedOptions {
  readonly scheduler?: 'works' | 'hangs';
  readonly limitMs?: number;
}

interface Watched {
  readonly watch: SupervisedWorker;
  readonly progress: WorkerProgress;
  /** Every stall that was reported. */
  readonly reported: readonly Stall[];
  readonly checks: () => number;
  /** Advances the clock of the watch. */
  readonly forward: (ms: number) => void;
}

/** Watches a worker whose progress the test controls. Its scheduler works unless `scheduler` is `hangs`. */
function watched({ scheduler: how = 'works', limitMs = LIMIT_MS }: WatchedOptions = {}): Watched {
  const schedules = createSchedules(world.redis);
  const reported: Stall[] = [];
  let checks = 0;
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  let release = () => {};
  const hang = {
    pollDue: () =>
      new Promise<never[]>((resolve) => {
        release = () => resolve([]);
      }),
  };
  const resources = createResources(silentLog);
  const opened: WorkerProgress[] = [];
  const tools = {
    queues: world.queues,
    backlogOf: backlogReader(world.queues, schedules),
    canWork: async () => {
      checks += 1;
      return (await writability(world.redis)) === 'writable';
    },
    limitMs,
    stopGraceMs: 100,
    resources,
    clock,
    log: silentLog,
  };
  const watch: SupervisedWorker = superviseWorker(tools, {
    open: (owner, progress) => {
      opened.push(progress);
      const scheduler = startScheduler({
        queues: world.queues,
        schedules: how === 'hangs' ? { ...schedules, reports: hang } : schedules,
        waitsUntilDue: () => Promise.resolve({ deliveries: 0, reports: 0, violations: 0, runs: 0, subscriptions: 0 }),
        intervalMs: 50,
        progress,
        log: silentLog,
      });
      owner.add('scheduler', null, () => {
        const stopped = scheduler.stop();
        release();
        return stopped;
      });
    },
    rebuildsOnce: false,
    onStall: () => {
      const stall = watch.stall();
      if (stall) reported.push(stall);
    },
  });
  ends.push(() => resources.closeAll());
  const [progress] = opened;
  if (progress === undefined) throw new Error('no worker was opened');
  return {
    watch,
    progress,
    reported,
    checks: () => checks,
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}

async function manyChecks({ checks }: Watched): Promise<void> {
  const before = checks();
  await eventually(() => expect(checks()).toBeGreaterThan(before + MANY_CHECKS), TIMEOUT_MS);
}

const wake = (ref: string) => world.queues.add('reports', [ref]);

test('the stall watch shows a stalled worker when its work waits and no run ends, and reports it at the next check', async () => {
  const seen = watched();
  await wake('T1');

  const stall = await eventually(() => {
    expect(seen.watch.stall()).not.toBeNull();
    return seen.watch.stall();
  }, TIMEOUT_MS);

  expect(seen.reported).toEqual([]);
  expect(stall?.part).toBe('reports');
  expect(stall?.ms).toBeGreaterThanOrEqual(LIMIT_MS);
  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the stall watch reports a stall when a queue cannot be read although Redis works', async () => {
  const seen = watched();
  await world.redis.set('{towhook-main}:reports:wait', 'no list');

  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the stall watch reports a stall when jobs have started and never end', async () => {
  const seen = watched();
  world.start(() => new Promise(() => {}), { progress: seen.progress });
  for (const ref of ['T1', 'T2', 'T3', 'T4', 'T5']) await wake(ref);

  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the stall watch reports no stall of a queue whose slow calls renew their leases, until the renewals end', async () => {
  const seen = watched();
  world.start(() => new Promise(() => {}), { progress: seen.progress });
  for (const ref of ['U1', 'U2', 'U3']) await world.queues.add('violations', [ref]);
  // Two calls at once occupy the queue.
  await eventually(async () => expect(await world.queues.byName.violations.getWaitingCount()).toBe(1), TIMEOUT_MS);
  const renewals = setInterval(() => seen.progress.progressed('violations'), LIMIT_MS / 10);
  ends.push(() => clearInterval(renewals));
  await manyChecks(seen);
  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);

  clearInterval(renewals);

  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'violations' }]), TIMEOUT_MS);
});

test('the stall watch reports a scheduler that hangs although its queue gets work from elsewhere and runs end', async () => {
  const seen = watched({ scheduler: 'hangs' });
  world.start(() => done('sent'), { progress: seen.progress });
  for (let turn = 0; seen.reported.length === 0; turn += 1) {
    await wake(`T${turn}`);
    await eventually(async () => expect(await world.queues.oldestWaitMs('reports')).toBe(0), TIMEOUT_MS);
  }

  expect(seen.reported).toMatchObject([{ part: 'scheduler of reports' }]);
});

test('the stall watch reports a stall when due work is not queued', async () => {
  const seen = watched({ scheduler: 'hangs' });
  await world.redis.zadd(KEYS.dueTows, Date.now() - 10_000, 'T1');

  await eventually(() => expect(seen.reported.length).toBeGreaterThan(0), TIMEOUT_MS);
});

test('the stall watch reports no stall of an idle worker', async () => {
  const seen = watched();
  await manyChecks(seen);

  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);
});

test('the stall watch reports no stall while another process does the work that this one queues', async () => {
  // Work counts as waiting after a fifth of the limit, which the other process must not need for it.
  const seen = watched({ limitMs: 3 * LIMIT_MS });
  const worked: string[] = [];
  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });
  const last = seen.checks() + MANY_CHECKS;
  for (let turn = 0; seen.checks() < last; turn += 1) {
    await world.redis.zadd(KEYS.dueTows, Date.now(), `T${turn}`);
    await eventually(() => expect(worked).toContain(`T${turn}`), TIMEOUT_MS);
  }

  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);
});

test('the stall watch reports no stall of a paused queue', async () => {
  const seen = watched();
  await world.queues.byName.reports.pause();
  await wake('T1');
  await manyChecks(seen);

  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);
});

test('the stall watch reports no stall while Redis refuses writes', async () => {
  const seen = watched();
  await wake('T1');
  await redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
  ends.push(() => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '0'));
  await manyChecks(seen);

  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);
});

test('the stall watch gives a process that was frozen the full limit again', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.progress.longestStall()?.part).toBe('reports'), TIMEOUT_MS);

  seen.forward(10 * LIMIT_MS);
  const checks = seen.checks();
  await eventually(() => expect(seen.checks()).toBeGreaterThan(checks + 1), TIMEOUT_MS);

  expect([seen.reported, seen.watch.stall()]).toEqual([[], null]);
});

test('the stall watch ends a stall when the worker makes progress again', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.watch.stall()).not.toBeNull(), TIMEOUT_MS);

  world.start(() => done('sent'), { progress: seen.progress });

  await eventually(() => expect(seen.watch.stall()).toBeNull(), TIMEOUT_MS);
});
