import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createProgress } from '../../src/queue/progress';
import { startPump, type Due } from '../../src/queue/pump';
import type { Queues } from '../../src/queue/queues';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openWorld, type World } from './world';

const redis = useRedis();

let world: World;
beforeEach(async () => {
  world = await openWorld(redis.url);
});
afterEach(() => world.close());

/** The pump waits 1 s for a run that hangs; container runtimes kill a process after 10 s. */
const STOP_LIMIT_MS = 8000;
const NOTHING: Due = { take: () => Promise.resolve([]) };

function start(options: { queues: Queues; reports: Due; deliveries?: Due }) {
  return startPump({
    queues: options.queues,
    due: { deliveries: options.deliveries ?? NOTHING, reports: options.reports, violations: NOTHING, bulk: NOTHING },
    intervalMs: 20,
    progress: createProgress(systemClock),
    log: silentLog,
  });
}

test('the pump queues work it has already taken once Redis accepts it again', async () => {
  let failures = 0;
  const failing: Queues = {
    ...world.queues,
    wake: async (wakeUps) => {
      if (failures < 3) {
        failures += 1;
        throw new Error('Redis is away');
      }
      await world.queues.wake(wakeUps);
    },
  };
  // Taking work reschedules it, so a second take finds nothing for ten seconds.
  let slice = ['T1', 'T2'];
  const reports: Due = {
    take: () => {
      const taken = slice;
      slice = [];
      return Promise.resolve(taken);
    },
  };

  const pump = start({ queues: failing, reports });
  await eventually(async () => expect(await world.queues.byName.reports.getWaitingCount()).toBe(2));

  expect(failures).toBe(3);
  await pump.stop();
});

test('the pump stops although taking due work hangs', async () => {
  let isTaking = false;
  const hanging: Due = {
    take: () => {
      isTaking = true;
      return new Promise(() => {});
    },
  };
  const pump = start({ queues: world.queues, reports: hanging });
  await eventually(() => expect(isTaking).toBe(true));
  const startedMs = performance.now();

  await pump.stop();

  expect(performance.now() - startedMs).toBeLessThan(STOP_LIMIT_MS);
});

test('the pump of one queue continues while taking the due work of another queue hangs', async () => {
  let release = () => {};
  const hanging: Due = {
    take: () =>
      new Promise((resolve) => {
        release = () => resolve([]);
      }),
  };
  let number = 0;
  const deliveries: Due = {
    take: () => {
      number += 1;
      return Promise.resolve([`dlv_${number}`]);
    },
  };
  const pump = start({ queues: world.queues, reports: hanging, deliveries });

  await eventually(async () => expect(await world.queues.byName.deliveries.getWaitingCount()).toBeGreaterThan(3));
  const stopped = pump.stop();
  release();
  await stopped;
});

test('the pump takes small parts of what is due while a rush of nudges lasts, and large ones after it', async () => {
  const limits: number[] = [];
  const deliveries: Due = {
    take: (limit) => {
      limits.push(limit);
      return Promise.resolve([]);
    },
  };
  const pump = start({ queues: world.queues, reports: NOTHING, deliveries });
  await eventually(() => expect(limits.length).toBeGreaterThan(0));
  const [usual = 0] = limits;

  await eventually(() => {
    for (let nth = 0; nth < 10_000; nth += 1) pump.nudge('deliveries');
    expect(limits.at(-1)).toBeLessThan(usual);
  });

  await eventually(() => expect(limits.at(-1)).toBe(usual));
  await pump.stop();
});
