import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { deliveryKey, KEYS } from '../../src/store/keys';
import { silentLog } from '../../src/platform/log/log';
import { eventually } from '../support/eventually';
import { walk } from '../support/conservation';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { makeReplica, MASTER_NAME, startSentinels, type Sentinels } from '../support/sentinels';
import { buildTown } from '../support/town';
import { playThroughRedisFailure } from './persistent-crew';

jest.setTimeout(300_000);

const TOWS = 24;
const WEBHOOKS_PER_SECOND = 100;
/** The service repeats its webhooks each second. */
const WEBHOOK_RETRIES = { retryDelaysMs: Array.from({ length: 200 }, () => 1000) };

let servers: TestRedis[] = [];
let sentinels: Sentinels;

beforeAll(async () => {
  servers = await Promise.all([1, 2, 3].map(() => startTestRedis({ appendfsync: 'always' })));
  const [master, ...replicas] = servers;
  if (!master) throw new Error('no master');
  await Promise.all(replicas.map((replica) => makeReplica(replica, master.port)));
  sentinels = await startSentinels(master.port, 3);
  await sentinels.untilAllKnown(2);
});
afterAll(async () => {
  await sentinels.stop();
  await Promise.all(servers.map((server) => server.stop()));
});

/** Posts webhooks at a steady rate, none twice, until it is ended. Resolves with the references that got 200. */
function startWebhooks(receiverUrl: string) {
  const acknowledged: string[] = [];
  let refused = 0;
  let longestGapMs = 0;
  let lastMs = performance.now();
  const calls: Promise<void>[] = [];
  const post = async (ref: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ towing_reference_id: ref, anything: 'is stored' });
    const answer = await fetch(`${receiverUrl}/tow-request`, { method: 'POST', headers, body }).catch(() => null);
    await answer?.text();
    if (answer?.status !== 200) {
      refused += 1;
      return;
    }
    acknowledged.push(ref);
    longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  let count = 0;
  const timer = setInterval(() => calls.push(post(`LOAD-${(count += 1)}`)), 1000 / WEBHOOKS_PER_SECOND);
  return {
    acknowledged,
    async end() {
      clearInterval(timer);
      await Promise.all(calls);
      return { sent: count, refused, longestGapMs: Math.round(longestGapMs) };
    },
  };
}

test('when Sentinel replaces a killed master under load, nothing acknowledged is lost and no report is out of order', async () => {
  const town = await buildTown(`redis://${MASTER_NAME}`, WEBHOOK_RETRIES);
  const access = { REDIS_SENTINELS: sentinels.list, REDIS_MIN_REPLICAS: '1' };
  const [all, worker] = await Promise.all([town.start('all', access), town.start('worker', access)]);
  const webhooks = startWebhooks(await all.url('receiver'));
  const playing = playThroughRedisFailure(await town.addressesOf(all), { tows: TOWS, timeLimitMs: 200_000 });
  await eventually(() => expect(webhooks.acknowledged.length).toBeGreaterThan(500), 60_000);

  const firstPort = await sentinels.masterPort();
  const killed = servers.find(({ port }) => port === firstPort);
  await killed?.kill();
  const before = webhooks.acknowledged.length;
  await eventually(async () => expect(await sentinels.masterPort()).not.toBe(firstPort), 60_000);
  await eventually(() => expect(webhooks.acknowledged.length).toBeGreaterThan(before + 500), 60_000);
  const load = await webhooks.end();
  const { findings, finished } = await playing;

  expect(finished).toBe(TOWS);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  const newPort = await sentinels.masterPort();
  const redis = connectFailFast(`redis://127.0.0.1:${newPort}`, { log: silentLog });
  await whenReady(redis, 5000);
  const ids = await redis.zrange(KEYS.indexDeliveries, '0', '-1');
  const stored = await Promise.all(ids.map((id) => redis.hget(deliveryKey(id), 'towingReferenceId')));
  const references = new Set(stored);
  expect(webhooks.acknowledged.filter((ref) => !references.has(ref))).toEqual([]);
  expect((await walk(redis)).lostNames).toEqual([]);
  redis.disconnect();
  for (const role of [all, worker]) {
    role.kill('SIGTERM');
    expect(await role.exited).toBe(0);
  }
  process.stdout.write(`failover: ${JSON.stringify({ ...load, acknowledged: webhooks.acknowledged.length })}\n`);
});
