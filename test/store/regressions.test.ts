import { jsonObject } from '../../src/contracts/common';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { KEYS } from '../../src/store/keys';
import { decideReport } from '../../src/workflow/outbox/decide';
import { ALL_TOWS } from '../../src/workflow/list-port';
import { auditEntryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { refusedWith } from '../support/exchanges';
import {
  ACCEPTED,
  INVOICE,
  mustClaim,
  useStores,
  result,
  START,
  towInvoice,
  towRequest,
  UNKNOWN,
} from '../support/stores';

const stores = useStores();

const isDue = async (id: string) => (await stores.redis.zscore(KEYS.dueDeliveries, id)) !== null;
const typesOf = async (ref: string) => (await stores.read(ref)).tasks.map(({ type }) => type);

/** A tow whose head is the invoice: started is accepted, the invoice is owed. */
async function towAtInvoice(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.say(ref, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

describe('settled delivery', () => {
  test('a processed delivery is not rescheduled by a worker that failed on it later', async () => {
    await stores.request('T1');

    expect(await stores.fail('request-T1')).toBe('deferred');

    expect(await isDue('request-T1')).toBe(false);
    expect(await stores.deliveries.read('request-T1')).toMatchObject({ state: 'processed', failures: 0 });
  });

  test('a processed delivery keeps no schedule entry, and a waiting one keeps its own', async () => {
    await stores.request('T1');
    await stores.accept('tow_request', towRequest('T2'), 'waiting');
    for (const id of ['request-T1', 'unknown-delivery']) await stores.redis.zadd(KEYS.dueDeliveries, 1, id);

    for (const id of ['request-T1', 'unknown-delivery']) await stores.process(id);

    expect(await stores.redis.zrangebyscore(KEYS.dueDeliveries, '-inf', '+inf')).toEqual(['waiting']);
  });

  test('a processed delivery that is replayed is processed again by a run that had read it before', async () => {
    await stores.request('T1');
    const before = await stores.deliveries.read('request-T1');
    await stores.replay('request-T1');

    const outdated = { read: () => Promise.resolve(before) };
    expect(await stores.process('request-T1', { deliveries: outdated })).toBe('already_known');

    expect(await isDue('request-T1')).toBe(false);
  });
});

test('a tow request with a malformed metadata.id creates a complete tow with timeline, search and parked invoice', async () => {
  await stores.acceptInvoice('T1');
  expect(await stores.process('invoice-T1')).toBe('parked');
  await stores.accept('tow_request', { ...towRequest('T1'), metadata: { id: '\ud800-own' } }, 'd1');

  expect(await stores.process('d1')).toBe('created');
  expect(await stores.schedules.deliveries.pollDue(10, 1000)).toContain('invoice-T1');
  expect(await stores.process('invoice-T1')).toBe('attached');

  const { tow, timeline } = await stores.read('T1');
  expect(timeline.map(({ type }) => type)).toEqual(['tow.requested', 'invoice.attached']);
  expect(tow.invoiceWebhooks).toHaveLength(1);
  for (const search of ['T1', 'V-T1', 'INV-T1']) {
    const found = await stores.tows.list({ ...ALL_TOWS, search, cursor: null, limit: 10 });
    expect(found.items.map((item) => item.tow.towingReferenceId)).toEqual(['T1']);
  }
});

describe('refused invoice request', () => {
  const task = { subject: 'invoice-2', type: 'report_refused' as const, message: 'no', actions: [] };

  test('a refused invoice with an earlier unanswered attempt is settled by the invoice webhook, and its task closes', async () => {
    await towAtInvoice('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(UNKNOWN));
    const second = await eventually(() => mustClaim(stores.outbox, 'T1'));
    const refused = { next: 'refused', hint: 'perhaps_already_accepted' } as const;
    await stores.outbox.settle(second, result(refused, { exchange: refusedWith(400, 'no'), task }));
    expect(await stores.dueAt('T1')).toBeNull();

    await stores.acceptInvoice('T1');

    expect(await stores.dueAt('T1')).not.toBeNull();
    expect((await stores.outbox.claim('T1')).kind).toBe('idle');
    expect(await stores.states('T1')).toEqual(['started accepted', 'invoice accepted']);
    expect(await typesOf('T1')).toEqual([]);
  });

  test('an invoice that was refused at once is not settled by an invoice webhook', async () => {
    await towAtInvoice('T1');
    const claim = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(
      claim,
      result({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task }),
    );

    await stores.acceptInvoice('T1');

    expect((await stores.outbox.claim('T1')).kind).toBe('needs_action');
    expect(await stores.states('T1')).toEqual(['started accepted', 'invoice refused']);
    expect(await typesOf('T1')).toEqual(['report_refused']);
    expect(await stores.dueAt('T1')).toBeNull();
  });

  test('a refused invoice that is retried manually is sent again, because an earlier webhook proves nothing', async () => {
    await towAtInvoice('T1');
    const claim = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(
      claim,
      result({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task }),
    );
    await stores.acceptInvoice('T1');
    const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
    const command = { action: 'retry' } as const;
    await decideReport(stores.progress, { ref: 'T1', reportId: 'invoice-2', command, actor });

    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { kind: 'invoice', attempts: 2 } });
  });
});

describe('invoice amount that differs from the answer', () => {
  const charge = { total_amount: 400, paid_amount: 0, tax: 45 };
  const answer = {
    towing_reference_id: 'T1',
    towing_invoice: charge,
    delay_invoice: { ...charge, total_amount: 0, tax: 0 },
  };
  const post = async (id: string, total: number) => {
    await stores.accept('tow_invoice', towInvoice('T1', total), id);
    return stores.process(id);
  };
  beforeEach(async () => {
    await towAtInvoice('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED, { answer }));
    await post('i1', 345);
  });

  test('a task about a different invoice amount is closed by a later webhook with the posted amount', async () => {
    expect(await typesOf('T1')).toEqual(['invoice_mismatch']);

    await post('i2', 400);

    expect(await typesOf('T1')).toEqual([]);
  });

  test('a task about a different invoice amount is not reopened by the replay of an old invoice', async () => {
    await post('i2', 400);
    await stores.replay('i1');

    expect(await stores.process('i1')).toBe('attached');

    expect(await typesOf('T1')).toEqual([]);
    expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(2);
  });
});

test('an API key created twice under one Idempotency-Key exists once and accepts only the first secret', async () => {
  const keys = createApiKeyStore(stores.redis);
  const key = { id: 'one-id', name: 'yard', role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' } as const;
  const idempotency = { scope: 'scope', fingerprint: 'same' };

  const act = { audit: auditEntryOf('key.created'), idempotency, answer: { id: 'one-id' } };

  const saved = await Promise.all(['hash-1', 'hash-2'].map((hash) => keys.create(key, hash, act)));

  expect(saved).toEqual([{ kind: 'done', value: { id: 'one-id' } }, { kind: 'repeated' }]);
  expect(await keys.list()).toEqual([{ ...key, previousValidUntil: null }]);
  expect(await keys.findByHash('hash-1')).toEqual(key);
  expect(await keys.findByHash('hash-2')).toBeNull();
});

test('a comparison of invoice amounts does not close a task about another question', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  const claim = await mustClaim(stores.outbox, 'T1');
  await stores.accept('tow_invoice', { ...towInvoice('T1'), violation_reference_id: 'V-other' }, 'i1');
  await stores.process('i1');
  const { towing_invoice, delay_invoice } = towInvoice('T1');
  const answer = { towing_reference_id: 'T1', towing_invoice, delay_invoice } as const;
  await stores.outbox.settle(claim, result(ACCEPTED, { answer: jsonObject.parse(answer) }));

  expect((await stores.read('T1')).tasks).toMatchObject([{ type: 'invoice_mismatch' }]);
});
