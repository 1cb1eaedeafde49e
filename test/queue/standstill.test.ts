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

const redis = useOwnRedis();
const LIMIT_MS = 1000;
/** So many looks take twice the limit. */
const MANY_LOOKS = 10;

let world: World;
let ends: (() => unknown)[];
beforeEach(async () => {
  world = await openWorld(redis.url);
  ends = [];
});
afterEach(async () => {
  for (const end of ends.toReversed()) await end();
  await world.close();
});

interface Watched {
  readonly watch: StandstillWatch;
  readonly progress: Progress;
  /** Every standstill that was told. */
  readonly told: readonly Standstill[];
  readonly looks: () => number;
  /** Sets the clock of the watch forward. */
  readonly forward: (ms: number) => void;
}

/** A watch over a worker whose progress is in the test's hands, with a pump that works unless told otherwise. */
function watched(options: { pump?: 'works' | 'hangs' } = {}): Watched {
  const due = createDueSets(world.redis);
  const sets = { deliveries: due.deliveries, reports: due.tows, violations: due.violations };
  const told: Standstill[] = [];
  let looks = 0;
  let aheadMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs };
  const progress = createProgress(clock);
  const hang = { take: () => new Promise<never>(() => {}) };
  const pump = startPump({
    queues: world.queues,
    due: options.pump === 'hangs' ? { ...sets, reports: hang } : sets,
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
    limitMs: LIMIT_MS,
    clock,
    onStandstill: async (standstill) => {
      told.push(standstill);
    },
  });
  ends.push(
    () => pump.stop(),
    () => watch.stop(),
  );
  return {
    watch,
    progress,
    told,
    looks: () => looks,
    forward: (ms) => {
      aheadMs += ms;
    },
  };
}

async function manyLooks({ looks }: Watched): Promise<void> {
  const before = looks();
  await eventually(() => expect(looks()).toBeGreaterThan(before + MANY_LOOKS), 20_000);
}

const wake = (ref: string) => world.queues.wake([{ queue: 'reports', ref }]);

test('work that waits while no turn ends is a standstill: it can be read first, then it is told', async () => {
  const seen = watched();
  await wake('T1');

  const standstill = await eventually(() => {
    expect(seen.watch.standstill()).not.toBeNull();
    return seen.watch.standstill();
  });

  expect(seen.told).toEqual([]);
  expect(standstill?.part).toBe('reports');
  expect(standstill?.ms).toBeGreaterThanOrEqual(LIMIT_MS);
  await eventually(() => expect(seen.told).toMatchObject([{ part: 'reports' }]));
});

test('a queue that cannot be read while Redis works is a standstill: nobody can work on it', async () => {
  const seen = watched();
  await world.redis.set('{p0}:reports:wait', 'no list');

  await eventually(() => expect(seen.told).toMatchObject([{ part: 'reports' }]));
});

test('jobs that never end are a standstill, though they were begun', async () => {
  const seen = watched();
  world.start(() => new Promise(() => {}), { progress: seen.progress });
  for (const ref of ['T1', 'T2', 'T3', 'T4', 'T5']) await wake(ref);

  await eventually(() => expect(seen.told).toMatchObject([{ part: 'reports' }]));
});

test('a pump that hangs is a standstill, though wake-ups come by another way and their turns end', async () => {
  const seen = watched({ pump: 'hangs' });
  world.start(() => done('sent'), { progress: seen.progress });
  for (let turn = 0; seen.told.length === 0; turn += 1) {
    await wake(`T${turn}`);
    await eventually(async () => expect(await world.queues.oldestWaitMs('reports')).toBe(0));
  }

  expect(seen.told).toMatchObject([{ part: 'pump of reports' }]);
});

test('due work that nobody hands out is a standstill', async () => {
  const seen = watched({ pump: 'hangs' });
  await world.redis.zadd(KEYS.dueTows, Date.now() - 10_000, 'T1');

  await eventually(() => expect(seen.told.length).toBeGreaterThan(0));
});

test('an idle worker never stands still', async () => {
  const seen = watched();
  await manyLooks(seen);

  expect([seen.told, seen.watch.standstill()]).toEqual([[], null]);
});

test('work that another process does is no standstill of this one, even if this one handed it out', async () => {
  const seen = watched();
  const worked: string[] = [];
  world.start((ref) => {
    worked.push(ref);
    return done('sent');
  });
  const last = seen.looks() + MANY_LOOKS;
  for (let turn = 0; seen.looks() < last; turn += 1) {
    await world.redis.zadd(KEYS.dueTows, Date.now(), `T${turn}`);
    await eventually(() => expect(worked).toContain(`T${turn}`));
  }

  expect([seen.told, seen.watch.standstill()]).toEqual([[], null]);
});

test('a queue that is paused does not stand still', async () => {
  const seen = watched();
  await world.queues.byName.reports.pause();
  await wake('T1');
  await manyLooks(seen);

  expect([seen.told, seen.watch.standstill()]).toEqual([[], null]);
});

test('while Redis takes no writes nobody stands still', async () => {
  const seen = watched();
  await wake('T1');
  await redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');
  ends.push(() => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '0'));
  await manyLooks(seen);

  expect([seen.told, seen.watch.standstill()]).toEqual([[], null]);
});

test('a process that was frozen gets its time to move', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.progress.standstill()?.part).toBe('reports'));

  seen.forward(10 * LIMIT_MS);
  const looks = seen.looks();
  await eventually(() => expect(seen.looks()).toBeGreaterThan(looks + 1));

  expect([seen.told, seen.watch.standstill()]).toEqual([[], null]);
});

test('a standstill is over when its work moves again', async () => {
  const seen = watched();
  await wake('T1');
  await eventually(() => expect(seen.watch.standstill()).not.toBeNull());

  world.start(() => done('sent'), { progress: seen.progress });

  await eventually(() => expect(seen.watch.standstill()).toBeNull());
});
