import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { examine } from '../../src/doctor';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import { imagesOnDisk, report, REQUIRED, violationIn } from '../operator/forms';
import { startApp, type App, type AppRole } from '../support/app';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { recordedLog, type RecordedLine } from '../support/recorded-log';
import { useRedis } from '../support/redis';

const redis = useRedis();
const HOUR_MS = 3_600_000;

let dataDir = '';
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'towhook-emptied-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

interface Seen {
  /** Of /readyz: the status and the fields that describe the disk. */
  readonly ready: readonly [status: number, body: z.infer<typeof readiness>];
  readonly metrics: string;
  readonly lines: readonly RecordedLine[];
  /** The files below spool and photos after the process has stopped, which waits for its sweep. */
  readonly files: readonly string[];
}

const readiness = z.object({ spool: z.string(), spool_alarm: z.string().optional() });

/** Runs a role on this DATA_DIR and stops it. */
async function run(role: AppRole, doing: (app: App) => Promise<unknown> = () => Promise.resolve()): Promise<Seen> {
  const { log, lines } = recordedLog();
  const environment = { DATA_DIR: dataDir, CONSOLE_OPEN_PATHS: 'metrics' };
  const app = await startApp({ redisUrl: redis.url, role, environment, log });
  try {
    await doing(app);
    const url = role === 'console' ? app.consoleUrl : app.opsUrl;
    const [ready, metrics] = [await request(url).get('/readyz'), await request(url).get('/metrics')];
    await app.stop();
    return {
      ready: [ready.status, readiness.parse(ready.body)],
      metrics: metrics.text,
      lines,
      files: await imagesOnDisk(app),
    };
  } finally {
    await app.stop();
  }
}

/** Reports a violation with an image; no worker sends it. Then lets its folder be this old. */
async function imageOfAge(hours: number): Promise<void> {
  await run('console', async (app) => {
    violationIn(await report(app, REQUIRED, [{ name: 'front.png', bytes: PNG }]));
  });
  const folder = join(dataDir, 'spool', 'violations');
  const thenS = (systemClock.nowMs() - hours * HOUR_MS) / 1000;
  for (const name of await readdir(folder)) await utimes(join(folder, name), thenS, thenS);
}

const doctor = async (adoptsDisk: boolean) => {
  const environment = { REDIS_URL: redis.url, DATA_DIR: dataDir };
  const findings = await examine({
    clock: systemClock,
    environment,
    webhookUrl: null,
    adoptsDisk,
    probes: false,
    testsWebhook: false,
  });
  return findings.find(({ check }) => check === 'images');
};

const alarmsIn = (lines: readonly RecordedLine[]) =>
  lines.filter(({ level, event }) => level === 'error' && event === 'spool.records_missing');

test('a console beside an emptied Redis keeps images older than KEEP_VIOLATIONS_HOURS and raises an alarm', async () => {
  await imageOfAge(721);
  const before = (await run('console')).files;
  await redis.ask('FLUSHALL');

  const emptied = await run('console');

  expect(before).toEqual([expect.stringMatching(/^violations\//)]);
  expect(emptied.files).toEqual(before);
  expect(emptied.ready).toEqual([200, { spool: 'shared', spool_alarm: 'records_missing' }]);
  expect(emptied.metrics).toMatch(/^towhook_spool_records_missing\{installation="main"\} 1$/m);
  expect(alarmsIn(emptied.lines)).toHaveLength(1);
  expect((await run('console')).ready[1].spool_alarm).toBe('records_missing');
});

test('the operations page names the alarm about missing records', async () => {
  await imageOfAge(25);
  await redis.ask('FLUSHALL');

  let page = '';
  await run('console', async (app) => {
    await request(app.consoleUrl).get('/readyz').expect(200);
    page = textOf((await (await signedIn(app)).get('/ops')).html);
  });

  expect(page).toContain(messagesIn('en').opsAlarms.recordsMissing.title);
});

test('a worker that starts first beside an emptied Redis raises the alarm', async () => {
  await imageOfAge(25);
  await redis.ask('FLUSHALL');

  const worker = await run('worker');

  expect(worker.ready).toEqual([200, { spool: 'shared', spool_alarm: 'records_missing' }]);
  expect(alarmsIn(worker.lines)).toHaveLength(1);
});

test('a new installation and one with its records raise no alarm about missing records', async () => {
  await imageOfAge(721);
  const again = await run('console');

  expect(again.ready).toEqual([200, { spool: 'shared' }]);
  expect(again.metrics).toMatch(/^towhook_spool_records_missing\{installation="main"\} 0$/m);
  expect(alarmsIn(again.lines)).toEqual([]);
  expect(await doctor(false)).toMatchObject({ state: 'fine', code: 'disk_shared' });
});

test('towhook doctor reports an emptied Redis before and after a console has claimed it', async () => {
  await imageOfAge(25);
  await redis.ask('FLUSHALL');

  expect(await doctor(false)).toMatchObject({ state: 'fault', code: 'records_missing' });
  await run('console');
  expect(await doctor(false)).toMatchObject({ state: 'fault', code: 'records_missing' });
});

test('after towhook doctor --adopt-disk the alarm is over and old images without a record are in spool/orphans', async () => {
  await imageOfAge(721);
  const { files } = await run('console');
  await redis.ask('FLUSHALL');
  await run('console');

  expect(await doctor(true)).toMatchObject({ state: 'fine', code: 'disk_shared' });
  const adopted = await run('console');

  expect(adopted.ready).toEqual([200, { spool: 'shared' }]);
  expect(adopted.files).toEqual(files.map((path) => path.replace(/^violations/, 'orphans')));
  const orphaned = adopted.lines.filter(({ event }) => event === 'spool.orphaned');
  expect(orphaned).toMatchObject([{ level: 'warn', violations: 1, photos: 0 }]);
});

test('a Redis that is emptied while a receiver runs is logged once, raises the alarm, and gets the schema version again', async () => {
  const { log, lines } = recordedLog();
  const app = await startApp({ redisUrl: redis.url, role: 'receiver', environment: { DATA_DIR: dataDir }, log });
  try {
    const emptied = () => lines.filter(({ event }) => event === 'redis.emptied');
    await redis.ask('FLUSHALL');
    await eventually(async () => {
      expect(emptied()).toHaveLength(1);
      expect(await redis.ask('EXISTS', KEYS.schemaVersion)).toBe(1);
    });
    const { text } = await request(app.opsUrl).get('/metrics');
    expect(text).toMatch(/^towhook_spool_records_missing\{installation="main"\} 1$/m);
  } finally {
    await app.stop();
  }
});

test('a role that starts again on its DATA_DIR beside an emptied Redis raises the alarm without an image', async () => {
  await run('worker');
  await redis.ask('FLUSHALL');

  expect((await run('worker')).ready[1].spool_alarm).toBe('records_missing');
});
