import request from 'supertest';
import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { simulatorCalls } from '../../src/contracts/service/simulator';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import type { ServiceClient } from '../../src/service';
import { startSimulator, type Simulator } from '../../src/simulator';
import { deliveryKey, KEYS, towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { recordsOf } from '../../src/store/outbox/records';
import { createTaskStore } from '../../src/store/ops/tasks';
import { type TowOutbox, NO_LIMITS } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { readEntry } from '../support/stored-records';
import { GRACE_MS, INVOICE, openStores, START, towRequest, type Stores, FAST_RETRIES } from '../support/stores';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';
import { clientFor, closeClients } from '../service/client-under-test';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const log = silentLog;

describe('delivery processing: unexpected failures', () => {
  const openTasks = async () => (await createTaskStore(stores.redis).list({ cursor: null, limit: 100 })).items;
  const dueAt = async (id: string) => {
    const score = await stores.redis.zscore(KEYS.dueDeliveries, id);
    return score === null ? null : Number(score);
  };

  test('a delivery opens one task after ten failures and is retried until it succeeds', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    for (let failure = 1; failure <= 9; failure += 1) expect(await stores.fail('d1')).toBe('deferred');
    expect(await openTasks()).toEqual([]);

    for (let failure = 10; failure <= 13; failure += 1) await stores.fail('d1');

    expect(await openTasks()).toMatchObject([{ type: 'delivery_failing', towing_reference_id: 'T1' }]);
    expect(await dueAt('d1')).not.toBeNull();
    expect(await stores.deliveries.read('d1')).toMatchObject({ state: 'waiting', failures: 13 });
    expect(await stores.process('d1')).toBe('created');
    expect(await dueAt('d1')).toBeNull();
    expect(await openTasks()).toEqual([]);
    expect(await stores.deliveries.read('d1')).toMatchObject({ state: 'processed', failures: 0 });
  });

  test('a delivery backs off longer after each failure, up to a limit', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    const received = (await stores.deliveries.read('d1'))?.receivedAtMs ?? 0;
    const waits: number[] = [];
    for (let failure = 1; failure <= 5; failure += 1) {
      await stores.fail('d1');
      // Almost no time has passed in Redis since the receipt, so the difference in whole seconds is the backoff.
      waits.push(Math.floor(((await dueAt('d1')) ?? 0) / 1000 - received / 1000));
    }

    expect(waits).toEqual([1, 2, 4, 5, 5]);
  });

  test('an unreadable delivery is deferred with doubling delays up to an hour and opens one task', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    await stores.redis.hset(deliveryKey('d1'), 'state', 'of another version');
    const MINUTE_MS = 60_000;
    const waits: number[] = [];
    for (const ageMs of [0, MINUTE_MS, 2 * MINUTE_MS, 40 * MINUTE_MS, 24 * 60 * MINUTE_MS]) {
      const nowMs = await recordsOf(stores.redis).nowMs();
      await stores.redis.zadd(KEYS.indexDeliveries, nowMs - ageMs, 'd1');
      expect(await stores.process('d1')).toBe('deferred');
      waits.push(Math.floor((((await dueAt('d1')) ?? 0) - nowMs) / MINUTE_MS));
    }

    expect(waits).toEqual([0, 1, 2, 40, 60]);
    expect(await openTasks()).toMatchObject([{ id: 'delivery_failing-d1', type: 'delivery_failing' }]);
    await stores.redis.hset(deliveryKey('d1'), 'state', 'waiting', 'receivedAtMs', Date.now() - MINUTE_MS);
    expect(await stores.process('d1')).toBe('created');
    expect(await dueAt('d1')).toBeNull();
    expect(await openTasks()).toEqual([]);
  });

  test('a delivery whose key has another type is deferred', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    await stores.redis.set(deliveryKey('d1'), 'no hash');

    expect(await stores.process('d1')).toBe('deferred');

    expect(await openTasks()).toMatchObject([{ id: 'delivery_failing-d1' }]);
  });

  test('a delivery whose tow cannot be read backs off and opens one task after ten failures', async () => {
    await stores.request('T1');
    await stores.acceptInvoice('T1', 'd1');
    const head = (await stores.redis.hget(towKey('T1'), 'head')) ?? '';
    await stores.redis.hset(towKey('T1'), 'head', 'unreadable');

    for (let failure = 1; failure <= 11; failure += 1) expect(await stores.process('d1')).toBe('deferred');

    expect(await stores.deliveries.read('d1')).toMatchObject({ state: 'waiting', failures: 11 });
    expect(await openTasks()).toMatchObject([{ id: 'delivery_failing-d1', type: 'delivery_failing' }]);
    await stores.redis.hset(towKey('T1'), 'head', head);
    expect(await stores.process('d1')).toBe('attached');
    expect(await openTasks()).toEqual([]);
  });

  test('a delivery that is settled or does not exist is removed from the schedule', async () => {
    await stores.request('T1');
    await stores.redis.zadd(KEYS.dueDeliveries, 1, 'request-T1', 1, 'unknown');

    expect(await stores.process('request-T1')).toBe('settled_before');
    expect(await stores.process('unknown')).toBe('gone');

    expect(await stores.redis.zcard(KEYS.dueDeliveries)).toBe(0);
  });
});

describe('report sending: failures of Redis and of the connection', () => {
  let simulator: Simulator;
  let service: ServiceClient;
  /** Has leases as long as in production, because an unacknowledged answer is kept until its lease expires. */
  let outbox: TowOutbox;

  beforeEach(async () => {
    const host = { host: '127.0.0.1', port: 0 };
    // These tests need no webhooks, so nothing listens on the webhook URL.
    simulator = await startSimulator({ ...host, webhookUrl: 'http://127.0.0.1:1', clock: systemClock, log });
    service = clientFor(simulator.url);
    outbox = createTowOutbox(stores.redis, systemClock, { leaseMs: 20_000, graceMs: GRACE_MS, ...NO_LIMITS });
  });
  afterEach(async () => {
    closeClients();
    await simulator.stop(100);
  });

  const clock = { ...systemClock, random: () => 0 };
  const settings = { ...FAST_RETRIES, retryBaseMs: 20 };
  const run = (ref: string, through: TowOutbox = outbox) => {
    const tools = {
      outbox: through,
      records: stores.records,
      service,
      settings,
      claimMaxAgeMs: 5000,
      ...unobserved(clock),
    };
    return runOutbox(CALLS.tow, ref, tools, unstopped);
  };

  async function setFaults(...rules: object[]): Promise<void> {
    await request(simulator.url).put('/simulator/faults').send(rules).expect(200);
  }

  /** Orders a tow in the simulator and starts it here. Returns its reference. */
  async function startedTow(): Promise<string> {
    const order = { violation_reference_id: 'V-1', send: false };
    const response = await request(simulator.url).post('/simulator/tow-requests').send(order).expect(201);
    const [, ref = ''] = /"towing_reference_id":"([^"]+)"/.exec(response.text) ?? [];
    await stores.accept('tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref }, `d-${ref}`);
    await stores.process(`d-${ref}`);
    await stores.say(ref, START);
    return ref;
  }

  test('an answer that arrives while Redis is down is kept, and the invoice is not requested again', async () => {
    const ref = await startedTow();
    await run(ref);
    await stores.say(ref, INVOICE);
    let reconnecting = 0;
    stores.redis.on('reconnecting', () => (reconnecting += 1));
    const duringOutage: TowOutbox = {
      ...outbox,
      settle: async (claimed, result) => {
        await redis.kill();
        const acknowledged = outbox.settle(claimed, result);
        // The reconnect delays are 100, 200, 400 and 800 ms, so Redis is down for more than a second.
        await eventually(() => expect(reconnecting).toBeGreaterThanOrEqual(4));
        await redis.start();
        return acknowledged;
      },
    };

    expect((await run(ref, duringOutage)).what).toBe('accepted');

    expect(await stores.states(ref)).toEqual(['started accepted', 'invoice accepted']);
    expect(await readEntry(stores.redis, { ref }, 2)).toMatchObject({ attempts: 1, failures: 0 });
    await run(ref);
    const { items } = simulatorCalls.parse((await request(simulator.url).get('/simulator/calls')).body);
    expect(items.filter(({ operation }) => operation === 'invoice')).toHaveLength(1);
  });

  test('probes a broken connection with growing delays, each time with another tow, until it works again', async () => {
    const waits: number[] = [];
    const recorded: TowOutbox = {
      ...outbox,
      settle: (claimed, result) => {
        if ('delayMs' in result.verdict) waits.push(result.verdict.delayMs);
        return outbox.settle(claimed, result);
      },
    };
    const probe = async (ref: string) =>
      eventually(async () => {
        const before = waits.length;
        await run(ref, recorded);
        expect(waits).toHaveLength(before + 1);
      });
    await setFaults({ operation: 'token', fault: '403', times: 4 });
    for (let tow = 0; tow < 4; tow += 1) await probe(await startedTow());
    expect(waits).toEqual([20, 40, 80, 100]);
    expect(await stores.redis.hlen(KEYS.tasks)).toBe(1);

    const last = await startedTow();
    await eventually(async () => expect((await run(last, recorded)).what).toBe('accepted'));

    expect(await stores.redis.hlen(KEYS.tasks)).toBe(0);
    await setFaults(
      { operation: 'started', fault: 'expired_token', times: 1 },
      { operation: 'token', fault: '403', times: 1 },
    );
    await probe(await startedTow());
    expect(waits.at(-1)).toBe(20);
  });
});
