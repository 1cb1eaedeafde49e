import type { Redis } from 'ioredis';
import { systemClock } from '../../src/platform/clock';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { type TowOutbox, NO_LIMITS } from '../support/outboxes';
import { openConnection } from '../support/redis';
import { readEntry } from '../support/stored-records';
import { ACCEPTED, GRACE_MS, mustClaim, result, START, useStores } from '../support/stores';
import { startWire, type RedisWire } from '../support/wire';

const stores = useStores();
const redis = stores.server;
let wire: RedisWire;
let client: Redis;
/** An outbox whose replies can be lost on their way from Redis. */
let outbox: TowOutbox;

beforeEach(async () => {
  wire = await startWire(redis.port);
  client = await openConnection(`redis://127.0.0.1:${wire.port}`);
  // A lease that outlasts the repetition of a call, as the real one does.
  outbox = createTowOutbox(client, systemClock, { leaseMs: 5000, graceMs: GRACE_MS, ...NO_LIMITS });
  for (const ref of ['T1', 'T2']) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
});
afterEach(async () => {
  client.disconnect();
  await wire.stop();
});

test('a claim whose reply is lost is returned again, counts one attempt and does not wait for a lease', async () => {
  wire.loseNextReply();

  const claim = await mustClaim(outbox, 'T1');

  expect(wire.lost()).toBe(1);
  expect(claim.entry.attempts).toBe(1);
  expect((await stores.read('T1')).reports[0]).toMatchObject({ attempts: 1, attemptId: claim.attemptId, log: [] });
  expect((await outbox.claim('T1')).kind).toBe('busy');
  expect(await outbox.settle(claim, result(ACCEPTED))).toMatchObject({ kind: 'done' });
  expect(await stores.states('T1')).toEqual(['started accepted']);
});

test('settling whose reply is lost is repeated, and its failure counts once', async () => {
  const claim = await mustClaim(outbox, 'T1');
  wire.loseNextReply();

  await outbox.settle(claim, result({ next: 'retry', delayMs: 0, because: 'unanswered' }));

  expect(wire.lost()).toBe(1);
  const entry = await readEntry(stores.redis, { ref: 'T1' }, 1);
  expect(entry).toMatchObject({ state: 'pending', attempts: 1, failures: 1, attemptId: null });
  expect(entry.log).toHaveLength(1);
  expect(await mustClaim(outbox, 'T1')).toMatchObject({ entry: { attempts: 2, failures: 1, unanswered: 1 } });
});

test('settling whose reply is lost is repeated, and the report stays accepted', async () => {
  const claim = await mustClaim(outbox, 'T1');
  wire.loseNextReply();

  await outbox.settle(claim, result(ACCEPTED));

  expect(wire.lost()).toBe(1);
  const [report] = (await stores.read('T1')).reports;
  expect(report).toMatchObject({ state: 'accepted', attempts: 1 });
  expect(report?.log.map(({ outcome }) => outcome)).toEqual(['accepted']);
});

test('a connection failure whose settling loses its reply counts once for all tows', async () => {
  const claim = await mustClaim(outbox, 'T1');
  const task = { subject: 'connection', type: 'connection' as const, message: 'broken', actions: [] };
  wire.loseNextReply();

  await outbox.settle(claim, result({ next: 'hold', delayMs: 0, because: 'connection' }, { task }));

  expect(wire.lost()).toBe(1);
  expect(await readEntry(stores.redis, { ref: 'T1' }, 1)).toMatchObject({ attempts: 0, failures: 0 });
  expect(await mustClaim(outbox, 'T2')).toMatchObject({ connectionFailures: 1 });
});
