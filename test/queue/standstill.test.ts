import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createProgress, type Progress, type Standstill } from '../../src/queue/progress';
import { startPump } from '../../src/queue/pump';
import { watchForStandstill, type StandstillWatch } from '../../src/queue/standstill';
import { writability } from '../../src/store/connect';
import { createDueSets } from '../../src/store/due';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { done, openWorld, type World } from './world';

jest.setTimeout(120_000);
const redis = useOwnRedis();
const LIMIT_MS = 500;
/** The watch looks 5 times per limit, so it would report a stall within this number of looks. */
const MANY_LOOKS = 8;
/** Ends a wait that hangs. The watch forgets what it saw when looks are late, so a busy machine needs longer. */
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
  readonly pump?: 'works' | 'hangs';
  readonly limitMs?: number;
}

interface Watched {
  readonly watch: StandstillWatch;
  readonly progress: Progress;
  /** Every stall that was reported. */
  readonly reported: readonly Standstill[];
  readonly looks: () => number;
  /** Advances the clock of the watch. */
  readonly forward: (ms: number) => void;
}

/** Watches a worker whose progress the test controls. Its pump works unless `pump` is `hangs`. */
function watched({ pump: how = 'works', limitMs = LIMIT_MS }: WatchedOptions = {}): Watched {
  const due = createDueSets(world.redis);
  const sets = { deliveries: due.deliveries, reports: due.tows, violations: due.violations, bulk: due.bulk };
  const reported: Standstill[] = [];
  let looks = 0;
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const progress = createProgress(clock);
  let release = () => {};
  const hang = {
    take: () =>
      new Promise<never[]>((resolve) => {
        release = () => resolve([]);
      }),
  };
  const pump = startPump({
    queues: world.queues,
    due: how === 'hangs' ? { ...sets, reports: hang } : sets,
    intervalMs: 50,
    progress,
    log: silentLog,
  });
  const watch = watchForStandstill({
    progress: () => progress,
    queues: world.queues,
    oldestAgeMs: async (queue) =>
      Math.max((await sets[queue].backlog()).oldestAgeMs, await world.queues.oldestWaitMs(queue)),
    canWork: async () => {
      looks += 1;
      return (await writability(world.redis)) === 'writable';
    },
    limitMs,
    clock,
    onStandstill: async (standstill) => {
      reported.push(standstill);
    },
  });
  ends.push(
    () => {
      const stopped = pump.stop();
      release();
      return stopped;
    },
    () => watch.stop(),
  );
  return {
    watch,
    progress,
    reported,
    looks: () => looks,
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}

async function manyLooks({ looks }: Watched): Promise<void> {
  const before = looks();
  await eventually(() => expect(looks()).toBeGreaterThan(before + MANY_LOOKS), TIMEOUT_MS);
}

const wake = (ref: string) => world.queues.wake([{ queue: 'reports', ref }]);

test('the watch shows a stalled worker when its work waits and no run ends, and reports it at the next look', async () => {
  const seen = watched();
  await wake('T1');

  const standstill = await eventually(() => {
    expect(seen.watch.standstill()).not.toBeNull();
    return seen.watch.standstill();
  }, TIMEOUT_MS);

  expect(seen.reported).toEqual([]);
  expect(standstill?.part).toBe('reports');
  expect(standstill?.ms).toBeGreaterThanOrEqual(LIMIT_MS);
  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the watch reports a stall when a queue cannot be read although Redis works', async () => {
  const seen = watched();
  await world.redis.set('{p0}:reports:wait', 'no list');

  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the watch reports a stall when jobs have started and never end', async () => {
  const seen = watched();
  world.start(() => new Promise(() => {}), { progress: seen.progress });
  for (const ref of ['T1', 'T2', 'T3', 'T4', 'T5']) await wake(ref);

  await eventually(() => expect(seen.reported).toMatchObject([{ part: 'reports' }]), TIMEOUT_MS);
});

test('the watch reports a pump that hangs although its queue gets work from elsewhere and runs end', async () => {
  const seen = watched({ pump: 'hangs' });
  world.start(() => done('sent'), { progress: seen.progress });
  for (let turn = 0; seen.reported.length === 0; turn += 1) {
    await wake(`T${turn}`);
    await eventually(async () => expect(await world.queues.oldestWaitMs('reports')).toBe(0), TIMEOUT_MS);
  }

  expect(seen.reported).toMatchObject([{ part: 'pump of reports' }]);
});

test('the watch reports a stall when due work is not queued', async () => {
  const seen = watched({ pump: 'hangs' });
  await world.redis.zadd(KEYS.dueTows, Date.now() - 10_000, 'T1');

  await eventually(() => expect(seen.reported.length).toBeGreaterThan(0), TIMEOUT_MS);
});

test('the watch reports no stall of an idle worker', async () => {
  const seen = watched();
  await manyLooks(seen);

  expect([seen.reported, seen.watch.standstill()]).toEqual([[], null]);
});

test('the watch reports no stall while another process does the work that this one queues', async () => {
  // Work counts as waiting after a fifth of the limit, which the other process must not need for it.
  const seen = watched({ limitMs: 3 * LIMIT_MS });
  const worked: string[] = [];
  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });
  const last = seen.looks() + MANY_LOOKS;
  for (let turn = 0; seen.looks() < last; turn += 1) {
    await world.redis.zadd(KEYS.dueTows, Date.now(), `T${turn}`);
    await eventually(() => expect(worked).toContain(`T${turn}`), TIMEOUT_MS);
  }

  expect([seen.reported, seen.watch.standstill()]).toEqual([[], null]);
});

test('the watch reports no stall of a paused queue', async () => {
  const seen = watched();
  await world.queues.byName.reports.pause();
  await wake('T1');
  await manyLooks(seen);

  expect([seen.reported, seen.watch.standstill()]).toEqual([[], null]);
});

test('the watch reports no stall while Redis refuses writes', async () => {
  const seen = watched();
  await wake('T1');
  await redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
  ends.push(() => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '0'));
  await manyLooks(seen);

  expect([seen.reported, seen.watch.standstill()]).toEqual([[], null]);
});

test('the watch gives a process that was frozen the whole limit again', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.progress.standstill()?.part).toBe('reports'), TIMEOUT_MS);

  seen.forward(10 * LIMIT_MS);
  const looks = seen.looks();
  await eventually(() => expect(seen.looks()).toBeGreaterThan(looks + 1), TIMEOUT_MS);

  expect([seen.reported, seen.watch.standstill()]).toEqual([[], null]);
});

test('the watch ends a stall when the work moves again', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.watch.standstill()).not.toBeNull(), TIMEOUT_MS);

  world.start(() => done('sent'), { progress: seen.progress });

  await eventually(() => expect(seen.watch.standstill()).toBeNull(), TIMEOUT_MS);
});
