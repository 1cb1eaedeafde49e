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

const redis = useRedis();

let foundation: Foundation;
let lines: readonly RecordedLine[];
beforeEach(async () => {
  const config = loadConfig({ REDIS_URL: redis.url, WORKER_STANDSTILL_MS: '1000', STOP_GRACE_MS: '200' });
  const recorded = recordedLog();
  lines = recorded.lines;
  foundation = await openFoundation({ config, log: recorded.log });
});
afterEach(() => foundation.resources.closeAll());

/** Opens a worker with one place per queue, whose jobs come to what `work` says. */
function openWorker(resources: Resources, work: Work) {
  const { clock, queues, due, log } = foundation;
  const progress = createProgress(clock);
  const workers = startWorkers({
    queues,
    handlers: { deliveries: () => work(''), reports: () => work(''), violations: () => work('') },
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

/** Has a worker supervised whose first life comes to nothing. */
function supervise(first: Work, options: { onStandstill: SuperviseOptions['onStandstill'] }) {
  let lives = 0;
  let worked = 0;
  const second: Work = () => {
    worked += 1;
    return done('sent');
  };
  const worker = superviseWorker(foundation, {
    open: (resources) => {
      lives += 1;
      return openWorker(resources, lives === 1 ? first : second);
    },
    onStandstill: options.onStandstill,
  });
  return { worker, lives: () => lives, worked: () => worked };
}

const hang: Work = () => new Promise(() => {});
const count = (event: string) => lines.filter((line) => line.event === event).length;

async function makeDue(...refs: readonly string[]): Promise<void> {
  for (const ref of refs) await foundation.redis.zadd(KEYS.dueTows, Date.now(), ref);
}

async function connectionsOpen(): Promise<number> {
  const list = await redis.ask('CLIENT', 'LIST');
  return String(list).trim().split('\n').length;
}

test('a worker whose jobs hang is built anew, does what waited, and leaves no connection behind', async () => {
  const supervised = supervise(hang, { onStandstill: 'rebuild' });
  await makeDue('T1', 'T2');
  await eventually(async () => expect(await foundation.queues.byName.reports.getActiveCount()).toBe(1));
  const connections = await connectionsOpen();

  await eventually(() => expect(supervised.worked()).toBeGreaterThan(0), 20_000);

  expect(count('worker.rebuilt')).toBe(1);
  expect(supervised.lives()).toBe(2);
  await eventually(() => expect(supervised.worker.standstill()).toBeNull());
  await eventually(async () => expect(await connectionsOpen()).toBeLessThanOrEqual(connections));
});

test('whoever is told of the standstill instead is told, and nothing is built', async () => {
  let told = 0;
  const supervised = supervise(hang, {
    onStandstill: () => {
      told += 1;
    },
  });
  await makeDue('T1', 'T2');

  await eventually(() => expect(told).toBeGreaterThan(0), 20_000);

  expect([supervised.lives(), supervised.worked(), count('worker.rebuilt')]).toEqual([1, 0, 0]);
  expect(supervised.worker.standstill()?.part).toBe('reports');
});

test('a worker that could not be built anew is tried again', async () => {
  let tries = 0;
  superviseWorker(foundation, {
    open: (resources) => {
      tries += 1;
      if (tries === 2) throw new Error('no luck');
      return openWorker(resources, tries === 1 ? hang : () => done('sent'));
    },
    onStandstill: 'rebuild',
  });
  await makeDue('T1', 'T2');

  await eventually(() => expect(count('worker.rebuilt')).toBe(1), 20_000);

  expect([tries, count('worker.rebuild_failed')]).toEqual([3, 1]);
});

test('a stop in the middle of building anew builds nothing', async () => {
  const supervised = supervise(hang, { onStandstill: 'rebuild' });
  await makeDue('T1', 'T2');
  await eventually(() => expect(count('worker.stood_still')).toBe(1), 20_000);

  await foundation.resources.closeAll();

  expect([supervised.lives(), count('worker.rebuilt')]).toEqual([1, 0]);
});
