import { openFoundation, type Foundation } from '../../src/main/foundation';
import { loadConfig } from '../../src/platform/config/config';
import type { Resources } from '../../src/platform/resources';
import type { WorkerProgress } from '../../src/queue/supervise';
import { startScheduler } from '../../src/queue/scheduler';
import { superviseWorker, type SuperviseOptions, type SupervisedWorker } from '../../src/queue/supervise';
import { startWorkers } from '../../src/queue/workers';
import { KEYS, PARTITION } from '../../src/store/keys';
import { waitsUntilDue } from '../../src/store/outbox/schedules';
import { failFastConnections } from '../support/app';
import { eventually } from '../support/eventually';
import { recordedLog, type RecordedLine } from '../support/recorded-log';
import { useRedis, withoutTimeouts } from '../support/redis';
import { done, type Work } from './queue-stage';

const redis = useRedis();
/** Ends a wait that hangs. */
const TIMEOUT_MS = 60_000;
/** A worker on a slow machine must be able to connect and to complete a job within this time. */
const STALL_LIMIT_MS = 2000;

let foundation: Foundation;
let lines: readonly RecordedLine[];
beforeEach(async () => {
  // Below the minimum of WORKER_STALLED_MS, to keep the tests short.
  const config = { ...loadConfig({ REDIS_URL: redis.url, STOP_GRACE_MS: '200' }), workerStalledMs: STALL_LIMIT_MS };
  const recorded = recordedLog();
  lines = recorded.lines;
  foundation = await openFoundation({ config, log: recorded.log });
  failFastConnections(foundation).forEach(withoutTimeouts);
});
afterEach(() => foundation.resources.closeAll());

/** Opens a worker with one job per queue at a time, which handles every job with `work`. */
function openWorker(resources: Resources, progress: WorkerProgress, work: Work): void {
  const { queues, schedules, log } = foundation;
  const workers = startWorkers({
    queues,
    handlers: {
      deliveries: () => work(''),
      reports: () => work(''),
      violations: () => work(''),
      runs: () => work(''),
      subscriptions: () => work(''),
    },
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: 1,
    lockMs: 20_000,
    stopGraceMs: 200,
    progress,
    log,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  resources.add(
    'scheduler',
    startScheduler({
      queues,
      schedules,
      waitsUntilDue: () => waitsUntilDue(foundation.redis),
      intervalMs: 50,
      progress,
      log,
    }),
    (opened) => opened.stop(),
  );
}

/** Supervises a worker as the role `worker` does, in a Redis that takes writes. */
function superviseForTest(options: SuperviseOptions): SupervisedWorker {
  const { config, queues, backlogOf, resources, clock, log } = foundation;
  return superviseWorker(
    {
      queues,
      backlogOf,
      canWork: () => Promise.resolve(true),
      limitMs: config.workerStalledMs,
      stopGraceMs: config.stopGraceMs,
      resources,
      clock,
      log,
    },
    options,
  );
}

const hang: Work = () => new Promise(() => {});

/** Supervises a worker whose jobs hang; those of a rebuilt one are as `rebuilt` says. */
function supervise({ rebuildsOnce, rebuilt }: { rebuildsOnce: boolean; rebuilt: 'completes' | 'hangs' | 'fails' }) {
  let builds = 0;
  let worked = 0;
  let ends = 0;
  const complete: Work = () => {
    worked += 1;
    return done('sent');
  };
  const worker = superviseForTest({
    open: (resources, progress) => {
      builds += 1;
      if (builds === 2 && rebuilt === 'fails') throw new Error('the worker cannot be opened');
      openWorker(resources, progress, builds === 1 || rebuilt === 'hangs' ? hang : complete);
    },
    rebuildsOnce,
    onStall: () => {
      ends += 1;
    },
  });
  return { worker, builds: () => builds, worked: () => worked, ends: () => ends };
}

const count = (event: string) => lines.filter((line) => line.event === event).length;

async function makeDue(...refs: readonly string[]): Promise<void> {
  for (const ref of refs) await foundation.redis.zadd(KEYS.dueTows, Date.now(), ref);
}

async function connectionsOpen(): Promise<number> {
  const list = await redis.ask('CLIENT', 'LIST');
  return String(list).trim().split('\n').length;
}

test('a worker whose jobs hang is rebuilt, processes the waiting work and leaves no connection open', async () => {
  const supervised = supervise({ rebuildsOnce: true, rebuilt: 'completes' });
  await makeDue('T1', 'T2');
  await eventually(async () => expect(await foundation.queues.byName.reports.getActiveCount()).toBe(1), TIMEOUT_MS);
  const connections = await connectionsOpen();

  await eventually(() => expect(supervised.worked()).toBeGreaterThan(0), TIMEOUT_MS);

  expect(count('worker.rebuilt')).toBe(1);
  expect([supervised.builds(), supervised.ends()]).toEqual([2, 0]);
  await eventually(() => expect(supervised.worker.stall()).toBeNull(), TIMEOUT_MS);
  await eventually(async () => expect(await connectionsOpen()).toBeLessThanOrEqual(connections), TIMEOUT_MS);
});

test('a stalled worker that may not be rebuilt ends its process', async () => {
  const supervised = supervise({ rebuildsOnce: false, rebuilt: 'completes' });
  await makeDue('T1', 'T2');

  await eventually(() => expect(supervised.ends()).toBeGreaterThan(0), TIMEOUT_MS);

  expect([supervised.builds(), supervised.worked(), count('worker.rebuilt')]).toEqual([1, 0, 0]);
  expect(supervised.worker.stall()?.part).toBe('reports');
});

test.each(['hangs', 'fails'] as const)('a stalled worker whose rebuilding %s ends its process', async (rebuilt) => {
  const supervised = supervise({ rebuildsOnce: true, rebuilt });
  await makeDue('T1', 'T2');

  await eventually(() => expect(supervised.ends()).toBeGreaterThan(0), TIMEOUT_MS);

  expect([supervised.builds(), count('worker.rebuilt')]).toEqual([2, rebuilt === 'hangs' ? 1 : 0]);
});

test('a process that stops while a stalled worker is being rebuilt opens no new worker', async () => {
  const supervised = supervise({ rebuildsOnce: true, rebuilt: 'completes' });
  await makeDue('T1', 'T2');
  await eventually(() => expect(count('worker.stalled')).toBe(1), TIMEOUT_MS);

  await foundation.resources.closeAll();

  expect([supervised.builds(), count('worker.rebuilt')]).toEqual([1, 0]);
});
