import { openFoundation, type Foundation } from '../../src/main/foundation';
import { superviseWorker, type SuperviseOptions } from '../../src/main/supervise';
import { loadConfig } from '../../src/platform/config';
import type { Resources } from '../../src/platform/resources';
import { createProgress } from '../../src/queue/progress';
import { startPump } from '../../src/queue/pump';
import { startWorkers } from '../../src/queue/workers';
import { KEYS, PARTITION } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { recordedLog, type RecordedLine } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { done, type Work } from './world';

jest.setTimeout(120_000);
const redis = useRedis();
/** Ends a wait that hangs. */
const TIMEOUT_MS = 60_000;
const STALL_LIMIT_MS = 600;

let foundation: Foundation;
let lines: readonly RecordedLine[];
beforeEach(async () => {
  // Below the minimum of WORKER_STANDSTILL_MS, to keep the tests short.
  const config = { ...loadConfig({ REDIS_URL: redis.url, STOP_GRACE_MS: '200' }), workerStandstillMs: STALL_LIMIT_MS };
  const recorded = recordedLog();
  lines = recorded.lines;
  foundation = await openFoundation({ config, log: recorded.log });
});
afterEach(() => foundation.resources.closeAll());

/** Opens a worker with one slot per queue that handles every job with `work`. */
function openWorker(resources: Resources, work: Work) {
  const { clock, queues, due, log } = foundation;
  const progress = createProgress(clock);
  const workers = startWorkers({
    queues,
    handlers: { deliveries: () => work(''), reports: () => work(''), violations: () => work(''), bulk: () => work('') },
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: 1,
    lockMs: 20_000,
    stopGraceMs: 200,
    progress,
    log,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  resources.add('pump', startPump({ queues, due, intervalMs: 50, progress, log }), (opened) => opened.stop());
  return progress;
}

const hang: Work = () => new Promise(() => {});

/** Supervises a worker whose jobs hang. A rebuilt worker completes them. */
function supervise(onStandstill: SuperviseOptions['onStandstill']) {
  let builds = 0;
  let worked = 0;
  const complete: Work = () => {
    worked += 1;
    return done('sent');
  };
  const worker = superviseWorker(foundation, {
    open: (resources) => {
      builds += 1;
      return openWorker(resources, builds === 1 ? hang : complete);
    },
    onStandstill,
  });
  return { worker, builds: () => builds, worked: () => worked };
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
  const supervised = supervise('rebuild');
  await makeDue('T1', 'T2');
  await eventually(async () => expect(await foundation.queues.byName.reports.getActiveCount()).toBe(1), TIMEOUT_MS);
  const connections = await connectionsOpen();

  await eventually(() => expect(supervised.worked()).toBeGreaterThan(0), TIMEOUT_MS);

  expect(count('worker.rebuilt')).toBe(1);
  expect(supervised.builds()).toBe(2);
  await eventually(() => expect(supervised.worker.standstill()).toBeNull(), TIMEOUT_MS);
  await eventually(async () => expect(await connectionsOpen()).toBeLessThanOrEqual(connections), TIMEOUT_MS);
});

test('a stalled worker is reported to the callback instead of being rebuilt when one is given', async () => {
  let calls = 0;
  const supervised = supervise(() => {
    calls += 1;
  });
  await makeDue('T1', 'T2');

  await eventually(() => expect(calls).toBeGreaterThan(0), TIMEOUT_MS);

  expect([supervised.builds(), supervised.worked(), count('worker.rebuilt')]).toEqual([1, 0, 0]);
  expect(supervised.worker.standstill()?.part).toBe('reports');
});

test('rebuilding a stalled worker is retried after it failed', async () => {
  let builds = 0;
  superviseWorker(foundation, {
    open: (resources) => {
      builds += 1;
      if (builds === 2) throw new Error('the worker cannot be opened');
      return openWorker(resources, builds === 1 ? hang : () => done('sent'));
    },
    onStandstill: 'rebuild',
  });
  await makeDue('T1', 'T2');

  await eventually(() => expect(count('worker.rebuilt')).toBe(1), TIMEOUT_MS);

  expect([builds, count('worker.rebuild_failed')]).toEqual([3, 1]);
});

test('a process that stops while a stalled worker is being rebuilt opens no new worker', async () => {
  const supervised = supervise('rebuild');
  await makeDue('T1', 'T2');
  await eventually(() => expect(count('worker.stood_still')).toBe(1), TIMEOUT_MS);

  await foundation.resources.closeAll();

  expect([supervised.builds(), count('worker.rebuilt')]).toEqual([1, 0]);
});
