import { judgeDeliveries } from '../../jobs/judge-deliveries';
import { WEBHOOK_READERS, type WebhookReaders } from '../../src/contracts/read-webhook';
import { deliveryKey, differingDeliveriesKey, KEYS } from '../../src/store/keys';
import { expectDifference } from '../../src/workflow/expect-difference';
import { standings } from '../support/conservation';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores, TESTER, towInvoice, type Stores } from '../support/stores';
import { judgementSteps, odd, WIDER } from './judgement-steps';

/** Webhooks that break the contract: kept, one task per kind, and judged again once the contract is wider. */

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const { judgements, tools, kind, preview, start, judge, accept, stateOf } = judgementSteps(() => stores);

test('100 webhooks that break the contract in one way are kept and open one task, and others are acted on', async () => {
  const refs = Array.from({ length: 100 }, (_, at) => `T${at}`);
  await Promise.all(refs.map((ref) => accept(ref)));
  // A hundred decisions on one kind at a time may come in each other's way; the schedule repeats what failed.
  for (const ref of refs) await eventually(async () => expect(await stores.process(`odd-${ref}`)).toBe('differs'));
  await stores.request('T-other');

  expect(await stores.generalTasks()).toMatchObject([{ type: 'webhook_differs', difference_id: (await kind()).id }]);
  expect(await kind()).toMatchObject({ source: 'webhook', name: 'tow_request', count: 100, expected: null });
  expect(await judgements().waiting((await kind()).id)).toBe(100);
  expect(await stateOf('odd-T7')).toEqual(['differs', null]);
  expect(await stores.tows.read('T7')).toBeNull();
  // Nothing is due: a run every 500 ms would look at them again and again.
  expect(await stores.redis.zcard(KEYS.dueDeliveries)).toBe(0);
  expect((await stores.deliveries.list({ cursor: null, limit: 200 })).items).toHaveLength(101);
});

test('a webhook that breaks the contract counts once, however often it is processed', async () => {
  await accept('T1');
  expect(await stores.process('odd-T1')).toBe('differs');
  await stores.replay('odd-T1');
  expect(await stores.process('odd-T1')).toBe('differs');

  expect((await kind()).count).toBe(1);
  expect(await judgements().waiting((await kind()).id)).toBe(1);
});

test('after the contract is widened all deliveries of the kind are judged in order of receipt, each acted on once', async () => {
  // Two requests of one tow: the first one that was received makes the tow.
  for (const [at, violation] of ['V-first', 'V-second'].entries()) {
    await accept('T1', odd('T1', violation), `odd-${at}`);
    await stores.redis.zincrby(differingDeliveriesKey((await kind()).id), at, `odd-${at}`);
  }
  await stores.acceptInvoice('T2');
  await stores.process('invoice-T2');
  await accept('T2');
  for (let at = 3; at < 30; at += 1) await accept(`T${at}`);

  const seen = await preview(WIDER);
  expect(seen).toMatchObject({
    count: 30,
    read: 30,
    outcomes: { acted_on: 30, not_acted_on: 0, differs: 0 },
    run: null,
  });
  expect(seen?.examples[0]).toMatchObject({ delivery_id: 'odd-0', towing_reference_id: 'T1', outcome: 'acted_on' });
  expect(await start()).toBe('done');
  expect(await start()).toBe('refused');
  expect(await judge(WIDER)).toMatchObject({ total: 30, remaining: 0 });

  const { tow, tasks } = await stores.read('T1');
  expect([tow.violationReferenceId, tow.rivalRequests.length]).toEqual(['V-first', 1]);
  expect(tasks.map(({ type }) => type)).toEqual(['rival_request']);
  expect((await stores.read('T29')).tow.state).toBe('requested');
  // The parked invoice became due.
  expect(await stores.process('invoice-T2')).toBe('attached');
  // Another run, or the same run by another worker, has nothing left to do.
  expect(await start()).toBe('done');
  expect(await judge(WIDER)).toMatchObject({ total: 0, remaining: 0 });
  expect((await stores.read('T1')).timeline.filter(({ type }) => type === 'tow.requested')).toHaveLength(1);
});

test('a run leaves what still differs in its list, and opens no further task', async () => {
  await accept('T1');
  await start();

  expect(await preview(WEBHOOK_READERS)).toMatchObject({
    outcomes: { acted_on: 0, differs: 1 },
    examples: [{ outcome: 'differs', rules: ['metadata: must be an object'] }],
  });
  expect(await judge(WEBHOOK_READERS)).toMatchObject({ total: 1, remaining: 1 });
  expect(await stateOf('odd-T1')).toEqual(['differs', null]);
  expect([(await kind()).count, (await stores.generalTasks()).length]).toEqual([1, 1]);
});

test('later deliveries of a tow wait for the next run when an earlier one fails', async () => {
  for (const id of ['odd-1', 'odd-2']) {
    await accept('T1', odd('T1', `V-${id}`), id);
    await stores.redis.zincrby(differingDeliveriesKey((await kind()).id), id === 'odd-1' ? 0 : 1, id);
  }
  await accept('T2');
  await start();
  const failing: WebhookReaders = {
    ...WIDER,
    tow_request: (rawBody) => {
      if (rawBody.includes('V-odd-1')) throw new Error('played by a test');
      return WIDER.tow_request(rawBody);
    },
  };

  expect(await judge(failing)).toMatchObject({ total: 3, remaining: 2 });
  expect(await stateOf('odd-2')).toEqual(['differs', null]);
  expect(await stateOf('odd-T2')).toEqual(['processed', 'created']);
});

describe('a delivery that cannot be used', () => {
  beforeEach(async () => {
    for (const ref of ['A', 'B', 'C']) await accept(ref);
    await start();
  });
  const statesOfOthers = () => Promise.all(['odd-B', 'odd-C'].map(stateOf));

  test.each([
    ['cannot be decoded', 'receivedAtMs', 'not a number', ['delivery_failing']],
    ['lacks its data key', 'later', 'sealed:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', []],
  ])('is left when it %s, and the others of its kind are judged', async (_what, field, value, tasks) => {
    await stores.redis.hset(deliveryKey('odd-A'), field, value);

    expect(await judge(WIDER)).toMatchObject({ total: 3, remaining: 1 });

    expect(await statesOfOthers()).toEqual([
      ['processed', 'created'],
      ['processed', 'created'],
    ]);
    const opened = (await stores.generalTasks()).map(({ type }) => type);
    expect(opened.filter((type) => type !== 'webhook_differs')).toEqual(tasks);
    await stores.redis.hset(deliveryKey('odd-A'), field, field === 'later' ? '' : '1');
    expect(await start()).toBe('done');
    expect(await judge(WIDER)).toMatchObject({ total: 1, remaining: 0 });
  });

  test('fails the run when Redis does not answer its read, so that the order of a tow is kept', async () => {
    const away = () => Promise.reject(new Error('Command timed out'));
    const { id } = await kind();

    const run = judgeDeliveries(id, { ...tools(WIDER), deliveries: { read: away } });

    await expect(run).rejects.toThrow('Command timed out');
    expect(await statesOfOthers()).toEqual([
      ['differs', null],
      ['differs', null],
    ]);
    expect(await start()).toBe('refused');
    // The delivery has not failed, and is not due.
    expect(await stores.deliveries.read('odd-A')).toMatchObject({ failures: 0 });
    expect(await stores.redis.zcard(KEYS.dueDeliveries)).toBe(0);
  });
});

describe('an expected difference', () => {
  const expecting = async () =>
    expectDifference(
      { records: stores.records },
      { id: (await kind()).id, reason: 'known', actor: TESTER, idempotency: undefined },
    );

  test('is acted on without the part that differs, now by judging again and later at once', async () => {
    await accept('T1');
    await expecting();
    expect(await preview(WEBHOOK_READERS)).toMatchObject({ outcomes: { acted_on: 1, differs: 0 } });
    await start();
    expect(await judge(WEBHOOK_READERS)).toMatchObject({ remaining: 0 });
    expect(await accept('T2')).toBe('created');

    for (const ref of ['T1', 'T2']) expect((await stores.read(ref)).tow.metadata).toBeNull();
    expect([(await kind()).count, await stores.generalTasks()]).toEqual([2, []]);
  });

  test('is closed without effect when the part that differs is needed', async () => {
    const nameless = { towing_reference_id: 'T1', violation_reference_id: ['V'] };
    await stores.accept('tow_request', nameless, 'nameless');
    await stores.process('nameless');
    await expecting();
    expect(await preview(WEBHOOK_READERS)).toMatchObject({ outcomes: { not_acted_on: 1 } });
    await start();
    await judge(WEBHOOK_READERS);

    expect(await stateOf('nameless')).toEqual(['processed', 'not_acted_on']);
    expect(await stores.tows.read('T1')).toBeNull();
  });
});

test('tolerated differences are acted on, counted once per delivery, and open no task', async () => {
  await stores.accept('tow_invoice', { ...towInvoice('T1'), metadata: '{"id":"own"}' }, 'invoice');
  expect(await stores.process('invoice')).toBe('parked');
  await stores.request('T1');
  expect(await stores.process('invoice')).toBe('attached');

  expect(await kind()).toMatchObject({ name: 'tow_invoice', isTolerated: true, count: 1 });
  expect(await stores.generalTasks()).toEqual([]);
});

test('the conservation check counts a delivery that differs as one with a person, and restores its place in the list', async () => {
  await accept('T1');
  const { id } = await kind();
  expect((await standings(stores.redis)).deliveries).toEqual({ with_a_person: 1 });
  await stores.redis.zrem(differingDeliveriesKey(id), 'odd-T1');

  expect((await standings(stores.redis)).deliveries).toEqual({ lost: 1, repaired: 1 });
  expect((await standings(stores.redis)).deliveries).toEqual({ with_a_person: 1 });
  expect(await judgements().waiting(id)).toBe(1);
});

test('the task closes with the last delivery of its kind, and a later one opens it again', async () => {
  await accept('T1');
  await start();
  await judge(WIDER);
  expect(await stores.generalTasks()).toEqual([]);

  await accept('T2');
  expect(await stores.generalTasks()).toMatchObject([{ type: 'webhook_differs' }]);
});
