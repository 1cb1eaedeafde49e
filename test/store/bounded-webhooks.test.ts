import { ALL_TOWS } from '../../src/workflow/list-port';
import { storedLength } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, useStores, result, START, towInvoice, towRequest } from '../support/stores';

const stores = useStores();

const KEPT = 20;

/** Attaches an invoice webhook with an invoice number and a total of its own. */
async function attach(number: number, invoiceNumber = `NUMBER-${number}`): Promise<void> {
  const charges = { total_amount: 1000 + number, paid_amount: 0, tax: 45 };
  const invoice = { invoice_number: invoiceNumber, ...charges };
  await stores.accept('tow_invoice', { ...towInvoice('T1'), towing_invoice: invoice }, `i${number}`);
  expect(await stores.process(`i${number}`)).toBe('attached');
}

async function attachAll(from: number, to: number): Promise<void> {
  for (let number = from; number < to; number += 1) await attach(number);
}

const lengthOf = (part: { without: string[] }) => storedLength(stores.redis, 'T1', part);

const find = async (word: string) =>
  (await stores.tows.list({ ...ALL_TOWS, search: word, cursor: null, limit: 5 })).items;

test('a tow keeps its newest 20 invoice webhooks, and all of them stay deliveries', async () => {
  await stores.request('T1');
  await attachAll(0, 30);

  const { tow, timeline } = await stores.read('T1');
  const newest = Array.from({ length: KEPT }, (_, index) => `i${index + 10}`);
  expect(tow.invoiceWebhooks.map(({ deliveryId }) => deliveryId)).toEqual(newest);
  const attached = timeline.filter(({ type }) => type === 'invoice.attached');
  expect(attached.map((entry) => entry['delivery_id'])).toEqual(newest);
  expect(timeline[0]?.type).toBe('tow.requested');
  expect((await stores.deliveries.list({ cursor: null, limit: 50 })).items).toHaveLength(31);
});

test('a tow is found by the number of an invoice that has left its record', async () => {
  await stores.request('T1');
  await attachAll(0, 30);

  expect(await find('NUMBER-0')).toHaveLength(1);
  expect(await find('NUMBER-29')).toHaveLength(1);
});

test('the earlier search terms of a tow stay short however long its invoice numbers were', async () => {
  await stores.request('T1');
  for (let number = 0; number < 25; number += 1) await attach(number, `NUMBER-${number}-${'7'.repeat(10_000)}`);

  const [all, others] = await Promise.all([{ without: [] }, { without: ['terms'] }].map((part) => lengthOf(part)));
  expect(Number(all) - Number(others)).toBeLessThan(5 * 300);
  expect(await find('NUMBER-0-77')).toHaveLength(1);
});

test('a tow is found by an invoice number that has a line feed', async () => {
  await stores.request('T1');
  await attach(1, 'NUMBER-1\nT2');

  expect(await find('NUMBER-1')).toHaveLength(1);
});

test('the record of a tow is no longer with 60 invoices than with 30', async () => {
  await stores.request('T1');
  await attachAll(10, 40);
  const before = await storedLength(stores.redis, 'T1', { without: ['terms'] });
  await attachAll(40, 70);

  expect(await storedLength(stores.redis, 'T1', { without: ['terms'] })).toBe(before);
});

test('the newest of many invoice webhooks is compared with the answer to our request', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  const claim = await mustClaim(stores.outbox, 'T1');
  await attachAll(0, 25);
  const charges = { total_amount: 1024, paid_amount: 0, tax: 45 };

  await stores.outbox.settle(
    claim,
    result(ACCEPTED, { answer: { towing_reference_id: 'T1', towing_invoice: charges } }),
  );

  expect((await stores.read('T1')).tasks).toEqual([]);
});

test('an invoice delivery that has left the record is not attached again when it is replayed', async () => {
  await stores.request('T1');
  await attachAll(0, 25);
  const before = (await stores.read('T1')).tow.invoiceWebhooks;
  await stores.replay('i0');

  expect(await stores.process('i0')).toBe('attached');

  expect((await stores.read('T1')).tow.invoiceWebhooks).toEqual(before);
});

test('a tow keeps its newest 20 rival requests', async () => {
  await stores.request('T1');
  for (let number = 0; number < 30; number += 1) {
    const rival = { ...towRequest('T1'), violation_reference_id: `V-${number}` };
    await stores.accept('tow_request', rival, `r${number}`);
    expect(await stores.process(`r${number}`)).toBe('rival_kept');
  }

  const { tow, timeline, tasks } = await stores.read('T1');
  expect(tow.rivalRequests.map(({ deliveryId }) => deliveryId)).toEqual(
    Array.from({ length: KEPT }, (_, index) => `r${index + 10}`),
  );
  expect(timeline.filter(({ type }) => type === 'request.rival_kept')).toHaveLength(KEPT);
  expect(tasks).toHaveLength(1);
});
