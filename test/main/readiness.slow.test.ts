import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, watch, writeSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import request from 'supertest';
import { z } from 'zod';
import { eventually, inTime } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import type { App } from '../support/app';
import { useApps } from './apps';

const redis = useOwnRedis();
const { start } = useApps(redis);

const CALLS = 50;
/** From one heartbeat of a process to the next. */
const BEAT_SECONDS = 5;
/** Commands INFO that read the settings and the role of Redis. */
const INFOS_PER_READ = 3;
const slowlog = z.array(z.tuple([z.number(), z.number(), z.number(), z.array(z.string())]).rest(z.unknown()));

async function readyz(url: string) {
  const { status, text } = await request(url).get('/readyz');
  return { status, body: z.looseObject({ status: z.string() }).parse(JSON.parse(text)) };
}

const untilReady = (url: string) => eventually(async () => expect((await readyz(url)).status).toBe(200));

/**
 * Calls /readyz fifty times at once, beside a heartbeat, as one can always fall into this time. Counts the commands that
 * Redis got meanwhile, by their names in lower case: those in scripts have capitals, and are left out.
 */
async function commandsOfFiftyCalls(app: App, url: string) {
  await redis.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '100000');
  await redis.ask('SLOWLOG', 'RESET');
  const startedMs = performance.now();
  await Promise.all([app.sendHeartbeat(), ...Array.from({ length: CALLS }, () => readyz(url))]);
  const seconds = Math.ceil((performance.now() - startedMs) / 1000);
  const sent = slowlog.parse(await redis.ask('SLOWLOG', 'GET', '-1')).map(([, , , words]) => words);
  const count = (command: string) => sent.filter(([name]) => name === command).length;
  const beatsMax = 2 + Math.ceil(seconds / BEAT_SECONDS);
  // The requests share one check a second; each heartbeat has its own.
  return { count, checksMax: seconds + beatsMax, beatsMax };
}

test('fifty concurrent readiness requests to the receiver cost Redis one check a second and no write', async () => {
  const app = await start('receiver');
  await untilReady(app.receiverUrl);
  const { count, checksMax, beatsMax } = await commandsOfFiftyCalls(app, app.receiverUrl);
  expect(count('lpushx')).toBeLessThanOrEqual(checksMax);
  expect(count('set')).toBe(0);
  // The process reads the settings of Redis as often as it sends heartbeats.
  expect(count('info')).toBeLessThanOrEqual(INFOS_PER_READ * beatsMax);
});

test.each(['console', 'worker'] as const)(
  'fifty concurrent readiness requests to the %s cost Redis one check a second and the disk no file',
  async (role) => {
    const app = await start(role);
    const url = role === 'console' ? app.consoleUrl : app.opsUrl;
    await untilReady(url);
    const probes = new Set<string>();
    const watching = watch(join(app.foundation.config.dataDir, 'spool'), (_event, name) => probes.add(name ?? ''));
    try {
      const { count, checksMax, beatsMax } = await commandsOfFiftyCalls(app, url);
      // A worker looks after itself, too: at most every few seconds.
      expect(count('lpushx')).toBeLessThanOrEqual(checksMax + 1);
      expect(count('info')).toBeLessThanOrEqual(INFOS_PER_READ * (checksMax + 1));
      expect(count('set')).toBe(0);
      // A file written here is seen: what came before it, too.
      await app.foundation.spool.state();
      await eventually(() => expect(probes.size).toBeGreaterThan(0));
      // This one, and those of the heartbeats that fell into this time.
      expect(probes.size).toBeLessThanOrEqual(1 + beatsMax);
    } finally {
      watching.close();
    }
  },
);

test('the readiness of a console whose disk hangs names the disk', async () => {
  const app = await start('console');
  await untilReady(app.consoleUrl);
  const marker = join(app.foundation.config.dataDir, 'spool', 'marker');
  const id = await readFile(marker, 'utf8');
  await rm(marker);
  // Opening a FIFO for reading blocks until a writer opens it.
  execFileSync('mkfifo', [marker]);
  try {
    await eventually(async () =>
      expect(await readyz(app.consoleUrl)).toMatchObject({
        status: 503,
        body: { spool: 'unusable', spool_problem: 'the disk of DATA_DIR/spool does not answer' },
      }),
    );
  } finally {
    const writer = openSync(marker, constants.O_RDWR | constants.O_NONBLOCK);
    await rm(marker);
    await writeFile(marker, id);
    writeSync(writer, id);
    closeSync(writer);
  }
  await untilReady(app.consoleUrl);
});

test('the readiness of the public receiver shows only the state of Redis', async () => {
  const { receiverUrl } = await start('receiver');
  await untilReady(receiverUrl);
  expect((await readyz(receiverUrl)).body).toEqual({ status: 'ready', redis: 'reachable' });
});

describe.each([
  ['is a read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  ['is out of memory', ['CONFIG', 'SET', 'maxmemory', '100kb'], ['CONFIG', 'SET', 'maxmemory', '0']],
  [
    'misses its replicas',
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
])('while Redis %s', (what, begin, end) => {
  afterEach(() => redis.ask(...end));

  test.each(['receiver', 'console'] as const)(
    `the readiness of the %s shows within 2 s that Redis ${what}`,
    async (role) => {
      const app = await start(role);
      const url = role === 'console' ? app.consoleUrl : app.receiverUrl;
      await untilReady(url);
      await inTime(2000, async (startClock) => {
        await redis.ask(...end);
        await untilReady(url);
        await redis.ask(...begin);
        startClock();
        await eventually(async () =>
          expect(await readyz(url)).toEqual({ status: 503, body: { status: 'not_ready', redis: 'refuses_writes' } }),
        );
      });
    },
  );
});
