import { deliveryKey, KEYS } from '../../src/store/keys';
import { ACCEPTED, INVOICE, mustClaim, result, START, towInvoice, useStores, type Stores } from '../support/stores';

let stores: Stores;
useStores((opened) => {
  stores = opened;
});

const REF = 'T1';
const FIRST_MS = 1_800_000_000_000;
const RIGHT = 120;
const WRONG = 100;

/** Stores an invoice that was received at this minute. */
async function receive(id: string, { minute, total }: { minute: number; total: number }): Promise<void> {
  await stores.accept('tow_invoice', towInvoice(REF, total), id);
  await stores.redis.hset(deliveryKey(id), 'received_at', FIRST_MS + minute * 60_000);
}

async function receiveAndProcess(id: string, minute: number, total: number): Promise<void> {
  await receive(id, { minute, total });
  expect(await stores.process(id)).toBe('attached');
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
