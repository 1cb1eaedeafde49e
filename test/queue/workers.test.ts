import type { Redis } from 'ioredis';
import type { Outcome } from '../../jobs/outcome';
import { deliveryJob, reportJob } from '../../src/contracts/jobs';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createProgress } from '../../src/queue/progress';
import { createQueues, type Queues } from '../../src/queue/queues';
import { startWorkers, type Workers } from '../../src/queue/workers';
import { connectFailFast, connectPatient, whenReady } from '../../src/store/connect';
import { PARTITION } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';

const redis = useRedis();
const tools = { log: silentLog, clock: systemClock };
const STOP_GRACE_MS = 500;

let connections: Redis[];
let queues: Queues;

beforeEach(async () => {
  connections = [connectFailFast(redis.url, tools), connectPatient(redis.url, tools)];
  await Promise.all(connections.map((connection) => whenReady(connection, 5000)));
  queues = createQueues({ connection: at(0), prefix: PARTITION, deduplicate: true, ...tools });
});
afterEach(async () => {
  connections.forEach((connection) => connection.disconnect());
  await queues.close();
});

function at(index: number): Redis {
  const connection = connections[index];
  if (!connection) throw new Error('no such connection');
  return connection;
}

/** Workers of both queues whose jobs come to what `work` says. */
function start(work: (ref: string) => Promise<Outcome>): Workers {
  return startWorkers({
    queues,
    handlers: {
      deliveries: async (payload) => work(deliveryJob.parse(payload).delivery_id),
      reports: async (payload) => work(reportJob.parse(payload).towing_reference_id),
    },
    connection: at(1),
    prefix: PARTITION,
    concurrency: 4,
    lockMs: 20_000,
    stopGraceMs: STOP_GRACE_MS,
    progress: createProgress(systemClock),
    clock: systemClock,
    log: silentLog,
  });
}

const done = (what: string): Promise<Outcome> => Promise.resolve({ kind: 'done', what });

async function tookMs(run: () => Promise<void>): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  await run();
  return systemClock.monotonicMs() - startedMs;
}

describe('a job', () => {
  const counts = () => queues.byName.reports.getJobCounts('waiting', 'active', 'completed', 'failed', 'delayed');

  test.each([
    ['names no record', {}],
    ['names another kind of record', { delivery_id: 'd1' }],
    ['is no object', 'T1'],
    ['carries nothing', null],
  ])('that %s ends as done and never in the failed set', async (_what, payload) => {
    const running = start(() => done('sent'));
    await queues.byName.reports.add('send-report', payload);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 1, failed: 0, delayed: 0 });
    });

    await running.stop();
  });

  test('whose work fails ends as done, and the jobs behind it run', async () => {
    const worked: string[] = [];
    const running = start((ref) => {
      worked.push(ref);
      return ref === 'T1' ? Promise.reject(new Error('unexpected')) : done('sent');
    });
    await queues.wake([{ queue: 'reports', ref: 'T1' }]);
    await queues.wake([{ queue: 'reports', ref: 'T2' }]);

    await eventually(async () => {
      expect(await counts()).toEqual({ waiting: 0, active: 0, completed: 2, failed: 0, delayed: 0 });
    });

    expect(worked).toEqual(['T1', 'T2']);
    await running.stop();
  });
});

describe('a stop', () => {
  /** A job that runs until it is told to end. */
  async function longJob() {
    let finish = () => {};
    let isFinished = false;
    let isRunning = false;
    const running = start(async () => {
      isRunning = true;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      isFinished = true;
      return done('sent');
    });
    await queues.wake([{ queue: 'reports', ref: 'T1' }]);
    await eventually(() => expect(isRunning).toBe(true));
    return { running, finish: () => finish(), isFinished: () => isFinished };
  }

  test('waits for the job that runs, and its end is stored', async () => {
    const job = await longJob();

    const stopping = job.running.stop();
    job.finish();
    await stopping;

    expect(job.isFinished()).toBe(true);
    expect(await queues.byName.reports.getJobCounts('active', 'completed')).toEqual({ active: 0, completed: 1 });
  });

  test('waits no longer than the grace for a job that does not end', async () => {
    const job = await longJob();

    const took = await tookMs(() => job.running.stop());

    job.finish();
    expect(took).toBeGreaterThanOrEqual(STOP_GRACE_MS - 50);
    expect(took).toBeLessThan(STOP_GRACE_MS + 1000);
  });
});
