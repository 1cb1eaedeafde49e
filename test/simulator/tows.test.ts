import { z } from 'zod';
import { requestOf } from './requests';
import { endAll, simulate, startOperator } from './support';

/** docs/service-api.md#operations. */
afterEach(endAll);

test('keeps every accepted tow status in order of arrival, including repeats', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow({ metadata: { id: 'm-1' } });
  for (const name of ['started', 'released', 'detained', 'detained', 'canceled'] as const) {
    const response = await simulator.operate(name, requestOf(name, tow));
    expect(response.body).toMatchObject({
      data: { towing_reference_id: tow.towing_reference_id, metadata: { id: 'm-1' } },
    });
  }

  expect((await simulator.world()).tows).toEqual([
    {
      ...tow,
      statuses: ['started', 'released', 'detained', 'detained', 'canceled'],
      invoices: 0,
      payment_status: null,
    },
  ]);
});

test('charges the tow and each day of delay with 15 % VAT in an invoice', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const response = await simulator.operate('invoice', { ...requestOf('invoice', tow), delay_in_days: 3 });

  expect(response.body).toMatchObject({
    data: {
      towing_reference_id: tow.towing_reference_id,
      towing_invoice: { total_amount: 345, paid_amount: 0, tax: 45 },
      delay_invoice: { total_amount: 172.5, paid_amount: 0, tax: 22.5 },
      metadata: tow.metadata,
    },
  });
});

test('makes a delay invoice of zero amounts for a tow without delay', async () => {
  const simulator = await simulate();
  const request = { ...requestOf('invoice', await simulator.orderTow()), delay_in_days: 0 };

  expect((await simulator.operate('invoice', request)).body).toMatchObject({
    data: { delay_invoice: { total_amount: 0, paid_amount: 0, tax: 0 } },
  });
});

test('creates a second invoice with a separate webhook and new numbers on a repeated invoice request', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 0 });
  const tow = await simulator.orderTow();
  await simulator.operate('invoice', requestOf('invoice', tow));
  await simulator.operate('invoice', requestOf('invoice', tow));

  expect((await simulator.world()).tows).toMatchObject([{ invoices: 2 }]);
  const posted = await operator.received(2);
  const charge = z.object({ invoice_number: z.string() });
  const numbers = posted.flatMap(({ body }) => [
    charge.parse(body['towing_invoice']).invoice_number,
    charge.parse(body['delay_invoice']).invoice_number,
  ]);
  expect(new Set(numbers).size).toBe(4);
  expect(new Set(posted.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
});

test('marks an invoice as paid in full on a payment', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, invoiceWebhookDelayMs: 60_000 });
  const tow = await simulator.orderTow();
  await simulator.operate('invoice', requestOf('invoice', tow));
  await simulator.operate('payment', requestOf('payment', tow));
  await simulator.control('POST', '/invoices', { towing_reference_id: tow.towing_reference_id });

  expect((await operator.received(1))[0]?.body).toMatchObject({
    towing_invoice: { total_amount: 345, paid_amount: 345 },
    delay_invoice: { total_amount: 115, paid_amount: 115 },
  });
  expect((await simulator.world()).tows).toMatchObject([{ payment_status: 'PAID', invoices: 1 }]);
});
