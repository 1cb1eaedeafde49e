import { jsonObject } from '../../src/contracts/common';
import { deliveryKey, KEYS } from '../../src/store/keys';
import { ACCEPTED, INVOICE, mustClaim, result, START, towInvoice, useStores } from '../support/stores';

const stores = useStores();

const REF = 'T1';
const FIRST_MS = 1_800_000_000_000;
const RIGHT = 120;
const WRONG = 100;

interface Received {
  readonly minute: number;
  readonly total?: number;
  readonly paid?: number;
  /** The minute of its signature; null without one. By default that of its receipt. */
  readonly signedAt?: number | null;
}

/** Stores an invoice that was received at this minute. */
async function receive(id: string, { minute, total = RIGHT, paid = 0, signedAt = minute }: Received): Promise<void> {
  const invoice = towInvoice(REF, total);
  const charge = { ...jsonObject.parse(invoice['towing_invoice']), paid_amount: paid };
  await stores.accept('tow_invoice', { ...invoice, towing_invoice: charge }, id, signedAt !== null);
  const atMs = (of: number) => FIRST_MS + of * 60_000;
  await stores.redis.hset(deliveryKey(id), 'receivedAtMs', atMs(minute));
  if (signedAt !== null) await stores.redis.hset(deliveryKey(id), 'signedAtMs', atMs(signedAt));
}

async function attach(id: string, received: Received): Promise<void> {
  await receive(id, received);
  expect(await stores.process(id)).toBe('attached');
}

async function receiveAndProcess(id: string, minute: number, total: number): Promise<void> {
  await attach(id, { minute, total });
}

/** Has the service answer the invoice request with the right total. */
async function answer(): Promise<void> {
  await stores.say(REF, START);
  await stores.say(REF, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, REF), result(ACCEPTED));
  const claim = await mustClaim(stores.outbox, REF);
  const charges = { total_amount: RIGHT, paid_amount: 0, tax: 45 };
  await stores.outbox.settle(
    claim,
    result(ACCEPTED, { answer: { towing_reference_id: REF, towing_invoice: charges, delay_invoice: null } }),
  );
}

const attached = async () => (await stores.read(REF)).tow.invoiceWebhooks.map(({ deliveryId }) => deliveryId);
const tasks = async () => (await stores.read(REF)).tasks.map(({ type }) => type);

test('invoices of a tow are kept in the order of their receipt, not of their processing', async () => {
  await stores.request(REF);
  for (const minute of [3, 1, 2]) await receiveAndProcess(`i${minute}`, minute, RIGHT);

  expect(await attached()).toEqual(['i1', 'i2', 'i3']);
});

test('an invoice that is processed late leaves the 20 newest ones on the tow', async () => {
  await stores.request(REF);
  const minutes = Array.from({ length: 20 }, (_, index) => index + 1);
  for (const minute of minutes) await receiveAndProcess(`i${minute}`, minute, RIGHT);
  await receiveAndProcess('i0', 0, WRONG);

  expect(await attached()).toEqual(minutes.map((minute) => `i${minute}`));
});

test('an older invoice that is processed late opens no task while the newest one agrees with the answer', async () => {
  await stores.request(REF);
  await answer();
  await receiveAndProcess('new', 2, RIGHT);
  await receiveAndProcess('old', 1, WRONG);

  expect(await tasks()).toEqual([]);
});

test('an older invoice that is processed late leaves the task open while the newest one differs', async () => {
  await stores.request(REF);
  await answer();
  await receiveAndProcess('new', 2, WRONG);
  await receiveAndProcess('old', 1, RIGHT);

  expect(await tasks()).toEqual(['invoice_mismatch']);
});

test('the answer to the invoice request is compared with the newest invoice, although an older one was processed last', async () => {
  await stores.request(REF);
  await receiveAndProcess('new', 2, RIGHT);
  await receiveAndProcess('old', 1, WRONG);
  await answer();

  expect(await tasks()).toEqual([]);
});

test('parked invoices become due at once and in the order in which they were parked', async () => {
  const ids = ['z', 'm', 'a'];
  for (const [minute, id] of ids.entries()) {
    await receive(id, { minute, total: RIGHT });
    expect(await stores.process(id)).toBe('parked');
  }
  await stores.request(REF);

  expect(await stores.redis.zrange(KEYS.dueDeliveries, '0', '-1')).toEqual(ids);
  expect(await stores.schedules.deliveries.pollDue(10, 1000)).toEqual(ids);
});

test('the invoice that was signed later counts, in any order of the webhooks', async () => {
  await stores.request(REF);
  await attach('paid', { minute: 2, paid: RIGHT, signedAt: 1 });
  await attach('unpaid', { minute: 3, signedAt: 0 });

  expect(await attached()).toEqual(['unpaid', 'paid']);
  expect(await tasks()).toEqual([]);
});

test('an invoice that shows less paid than the one before opens a task, although it was signed later', async () => {
  await stores.request(REF);
  await attach('paid', { minute: 2, paid: RIGHT });
  await attach('unpaid', { minute: 3 });

  expect(await attached()).toEqual(['paid', 'unpaid']);
  expect(await tasks()).toEqual(['invoice_mismatch']);
});

test.each([
  ['one was not signed', { signedAt: null }, {}],
  ['the other was not signed', {}, { signedAt: null }],
  ['both were signed in the same second', { signedAt: 1 }, { signedAt: 1 }],
])('of two invoices with other amounts the one received last counts with a task when %s', async (_why, one, other) => {
  await stores.request(REF);
  await attach('paid', { minute: 1, paid: RIGHT, ...one });
  await attach('more', { minute: 2, paid: RIGHT + 1, ...other });

  expect(await attached()).toEqual(['paid', 'more']);
  expect(await tasks()).toEqual(['invoice_mismatch']);
});

test('of two invoices without a signed time and with the same amounts none opens a task', async () => {
  await stores.request(REF);
  await attach('i1', { minute: 1, signedAt: null });
  await attach('i2', { minute: 2, signedAt: null });

  expect(await tasks()).toEqual([]);
});

test('an invoice that is sent and signed again keeps the time of its first call', async () => {
  await stores.request(REF);
  await attach('unpaid', { minute: 1 });
  await attach('paid', { minute: 2, paid: RIGHT });
  expect(await stores.accept('tow_invoice', towInvoice(REF), 'unpaid')).toBe('already_known');
  await stores.replay('unpaid');
  await stores.process('unpaid');

  expect((await stores.deliveries.read('unpaid'))?.signedAtMs).toBe(FIRST_MS + 60_000);
  expect(await attached()).toEqual(['unpaid', 'paid']);
  expect(await tasks()).toEqual([]);
});

test('an older invoice that is judged later by a replay does not replace a newer one', async () => {
  await receive('old', { minute: 1 });
  await stores.process('old');
  await stores.request(REF);
  await attach('new', { minute: 2, paid: RIGHT });
  await stores.replay('old');
  expect(await stores.process('old')).toBe('attached');

  expect(await attached()).toEqual(['old', 'new']);
});
