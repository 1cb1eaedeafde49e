import { systemClock } from '../../src/platform/clock';
import { untilRead } from '../../src/platform/timers';
import { changesIn } from '../support/changes';
import { createIntake } from '../../src/store/webhook/deliveries';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import type { ClaimedReport } from '../support/outboxes';
import {
  INVOICE,
  mustClaim,
  reference,
  useStores,
  result,
  START,
  ACCEPTED,
  towInvoice,
  towRequest,
} from '../support/stores';

const stores = useStores({ leaseMs: 60_000 });

const DELIVERY = {
  kind: 'tow_request',
  towingReferenceId: reference('T1'),
  rawBody: JSON.stringify(towRequest('T1')),
  verified: false,
  signatureId: null,
  signedAtMs: null,
} as const;

const deliveryState = async (id: string) => (await stores.deliveries.read(id))?.state;

test('a delivery accepted a second time is recognised and counted', async () => {
  expect(await stores.accept('tow_request', towRequest('T1'), 'd1')).toBe('accepted');
  expect(await stores.accept('tow_request', towRequest('T1'), 'd1')).toBe('already_known');

  expect(await stores.deliveries.read('d1')).toMatchObject({ copies: 2, state: 'waiting' });
  expect(await stores.redis.zcard('{towhook-main}:due:deliveries')).toBe(1);
});

test('deliveries that are accepted together are each stored once, and copies among them are counted', async () => {
  const accept = (id: string) => stores.accept('tow_request', towRequest('T1'), id);

  const replies = await Promise.all([accept('d1'), accept('d2'), accept('d1'), accept('d1'), accept('d2')]);

  expect(replies).toEqual(['accepted', 'accepted', 'already_known', 'already_known', 'already_known']);
  expect(await stores.deliveries.read('d1')).toMatchObject({ copies: 3, state: 'waiting' });
  expect(await stores.deliveries.read('d2')).toMatchObject({ copies: 2, state: 'waiting' });
  expect(await stores.redis.zcard('{towhook-main}:due:deliveries')).toBe(2);
  expect(await stores.redis.zcard('{towhook-main}:index:deliveries')).toBe(2);
});

test('an invoice webhook that is stored together with a tow request proves the invoice of its own tow', async () => {
  await stores.request('T1');
  const read = () => stores.redis.hmget('{towhook-main}:tow:T1', 'v', 'proof');
  const [before, none] = await read();
  expect(none).toBeNull();

  await Promise.all([stores.accept('tow_request', towRequest('T2'), 'd2'), stores.acceptInvoice('T1')]);

  const [version, proof] = await read();
  expect(Number(proof)).toBeGreaterThan(0);
  // Decisions on the tow without the proof are stale.
  const [number, unique] = version?.split('.') ?? [];
  expect(Number(number)).toBe(Number.parseInt(before ?? '', 10) + 1);
  expect(unique).toMatch(/./);
  expect(await stores.redis.zrangebyscore(KEYS.dueTows, '-inf', '+inf')).toEqual(['T1']);
});

test('a delivery that is stored is due, and its change is there once', async () => {
  await stores.accept('tow_request', towRequest('T1'), 'd1');
  await stores.accept('tow_request', towRequest('T1'), 'd1');

  expect(Number(await stores.redis.zscore(KEYS.dueDeliveries, 'd1'))).toBeLessThanOrEqual(Date.now());
  expect(await changesIn(stores.redis)).toMatchObject([
    {
      type: 'delivery.accepted',
      subject: { kind: 'delivery', id: 'd1' },
      sequence: 1,
      data: { towing_reference_id: 'T1' },
    },
  ]);
});

test('a delivery that waits too long for the call before it is rejected and not stored', async () => {
  const time = { nowMs: 0 };
  const intake = createIntake(stores.redis, { ...systemClock, monotonicMs: () => time.nowMs });
  const deliver = (id: string) => intake.accept({ ...DELIVERY, id });
  await deliver('d0');
  const call = stores.redis.evalsha.bind(stores.redis);
  let answerFirst = () => {};
  const calls = jest.spyOn(stores.redis, 'evalsha').mockImplementationOnce(async (...given) => {
    await new Promise<void>((resolve) => (answerFirst = resolve));
    return call(...given);
  });
  const first = deliver('d1');
  await eventually(() => expect(calls).toHaveBeenCalledTimes(1));
  const late = deliver('d2');
  time.nowMs += 1000;
  const other = deliver('d3');
  time.nowMs += 200;
  const answers = Promise.allSettled([first, late, other]);

  answerFirst();

  expect(await answers).toMatchObject([
    { status: 'fulfilled', value: 'accepted' },
    { status: 'rejected', reason: { message: 'Redis is too slow' } },
    { status: 'fulfilled', value: 'accepted' },
  ]);
  expect(await stores.deliveries.read('d2')).toBeNull();
});

test('two calls store deliveries at a time, and those that come meanwhile share the next one', async () => {
  await stores.accept('tow_request', towRequest('T0'), 'd0');
  const call = stores.redis.evalsha.bind(stores.redis);
  const answers: (() => void)[] = [];
  const calls = jest.spyOn(stores.redis, 'evalsha').mockImplementation(async (...given) => {
    await new Promise<void>((resolve) => answers.push(resolve));
    return call(...given);
  });
  const accepted: Promise<unknown>[] = [];
  const deliver = (id: string) => accepted.push(stores.accept('tow_request', towRequest(id), id));
  deliver('d1');
  await eventually(() => expect(answers).toHaveLength(1));
  deliver('d2');
  await eventually(() => expect(answers).toHaveLength(2));
  for (const id of ['d3', 'd4', 'd5']) deliver(id);
  await untilRead();
  expect(calls).toHaveBeenCalledTimes(2);

  answers[0]?.();
  await eventually(() => expect(answers).toHaveLength(3));
  answers.forEach((answer) => answer());
  await Promise.all(accepted);
  expect(calls).toHaveBeenCalledTimes(3);
});

describe('a delivery that is known although its call failed will be processed', () => {
  const isKept = async (id: string) => {
    const kept = await Promise.all(
      ['due', 'index'].map((list) => stores.redis.zscore(`{towhook-main}:${list}:deliveries`, id)),
    );
    return kept.every((score) => score !== null);
  };

  test.each([
    ['of another type', (key: string) => stores.redis.set(key, 'text')],
    ['without a version', (key: string) => stores.redis.hset(key, 'head', 'r1')],
  ])('when the tow of an invoice is a key %s', async (_damage, damage) => {
    await damage('{towhook-main}:tow:T1');
    const together = ['T1', 'T2'].map((ref) => stores.acceptInvoice(ref));
    expect(await Promise.allSettled(together)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);

    for (const ref of ['T1', 'T2']) {
      expect(await stores.acceptInvoice(ref)).toBe('already_known');
      expect(await isKept(`invoice-${ref}`)).toBe(true);
    }
  });

  test('when the list of deliveries is a key of another type', async () => {
    await stores.redis.set('{towhook-main}:index:deliveries', 'text');
    await expect(stores.acceptInvoice('T1')).rejects.toThrow('WRONGTYPE');
    await stores.redis.del('{towhook-main}:index:deliveries');

    expect(await stores.acceptInvoice('T1')).toBe('accepted');
    expect(await isKept('invoice-T1')).toBe(true);
  });
});

test('an invoice that arrives before its tow request is parked and then attached to the tow', async () => {
  await stores.acceptInvoice('T1');
  expect(await stores.process('invoice-T1')).toBe('parked');
  expect(await deliveryState('invoice-T1')).toBe('parked');

  await stores.accept('tow_request', towRequest('T1'), 'd1');
  expect(await stores.process('d1')).toBe('created');
  const due = await stores.schedules.deliveries.pollDue(10, 1000);
  expect(due).toContain('invoice-T1');
  expect(await stores.process('invoice-T1')).toBe('attached');

  expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(1);
  expect(await deliveryState('invoice-T1')).toBe('processed');
});

/** Processes a delivery, again while a busy machine makes Redis answer too late. */
function processed(id: string): Promise<string> {
  return eventually(async () => {
    const verdict = await stores.process(id);
    if (verdict === 'deferred') throw new Error(`${id} was deferred`);
    return verdict;
  });
}

test('an invoice and its tow request that are processed at the same time are always matched', async () => {
  const refs = Array.from({ length: 150 }, (_, index) => `T${index}`);
  await Promise.all(
    refs.map(async (ref) => {
      await Promise.all([stores.acceptInvoice(ref), stores.accept('tow_request', towRequest(ref), `d-${ref}`)]);
    }),
  );
  const verdicts = await Promise.all(
    refs.map((ref) => Promise.all([processed(`invoice-${ref}`), processed(`d-${ref}`)])),
  );
  // Parked invoices became due again when their tows were created.
  await Promise.all(refs.map((ref) => processed(`invoice-${ref}`)));

  for (const ref of refs) {
    expect((await stores.read(ref)).tow.invoiceWebhooks).toHaveLength(1);
    expect(await deliveryState(`invoice-${ref}`)).toBe('processed');
  }
  expect(verdicts.flat().filter((verdict) => verdict === 'created')).toHaveLength(150);
});

test('a parked invoice is due again no later than its escalation time', async () => {
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  const score = Number(await stores.redis.zscore('{towhook-main}:due:deliveries', 'invoice-T1'));
  const received = (await stores.deliveries.read('invoice-T1'))?.receivedAtMs ?? 0;

  expect(score - received).toBeGreaterThan(23 * 3_600_000);
});

test('processing a delivery twice has the effect of processing it once', async () => {
  await stores.request('T1');
  await stores.acceptInvoice('T1');
  await Promise.all([stores.process('invoice-T1'), stores.process('invoice-T1'), stores.process('request-T1')]);
  const { version } = await stores.read('T1');

  expect(await stores.process('invoice-T1')).toBe('settled_before');

  const record = await stores.read('T1');
  expect(record.version).toBe(version);
  expect(record.tow.invoiceWebhooks).toHaveLength(1);
  expect(record.timeline.filter(({ type }) => type === 'invoice.attached')).toHaveLength(1);
});

test('a second tow request with another violation is kept and opens a task, and the first one stays in effect', async () => {
  await stores.request('T1');
  const rival = { ...towRequest('T1'), violation_reference_id: 'V-other' };
  await stores.accept('tow_request', rival, 'd2');

  expect(await stores.process('d2')).toBe('rival_kept');

  const { tow, tasks } = await stores.read('T1');
  expect(tow.violationReferenceId).toBe('V-T1');
  expect(tow.rivalRequests).toMatchObject([{ violationReferenceId: 'V-other' }]);
  expect(tasks).toMatchObject([{ type: 'rival_request' }]);
});

test('a second tow request with the same content in another field order is recognised', async () => {
  await stores.request('T1');
  const again = { metadata: { id: 'own-T1' }, towing_reference_id: 'T1', violation_reference_id: 'V-T1' };
  await stores.accept('tow_request', again, 'd2');

  expect(await stores.process('d2')).toBe('already_known');
  expect((await stores.read('T1')).tasks).toEqual([]);
});

describe('invoice that differs from the answer', () => {
  const answer = {
    towing_reference_id: 'T1',
    towing_invoice: { total_amount: 400, paid_amount: 0, tax: 45 },
    delay_invoice: { total_amount: 0, paid_amount: 0, tax: 0 },
  };

  async function claimedInvoice(): Promise<ClaimedReport> {
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.say('T1', INVOICE);
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    return mustClaim(stores.outbox, 'T1');
  }

  async function attach(): Promise<void> {
    await stores.accept('tow_invoice', towInvoice('T1'), 'i1');
    await stores.process('i1');
  }

  test('an invoice that differs from the answer to our request opens a task when its webhook comes after the answer', async () => {
    await stores.outbox.settle(await claimedInvoice(), result(ACCEPTED, { answer }));
    await attach();

    expect((await stores.read('T1')).tasks).toMatchObject([{ type: 'invoice_mismatch' }]);
  });

  test('an invoice that differs from the answer to our request opens a task when its webhook comes before the answer', async () => {
    const claim = await claimedInvoice();
    await attach();
    await stores.outbox.settle(claim, result(ACCEPTED, { answer }));

    expect((await stores.read('T1')).tasks).toMatchObject([{ type: 'invoice_mismatch' }]);
    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
  });
});
