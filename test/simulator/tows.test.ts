import { z } from 'zod';
import { requestOf } from './requests';
import { endAll, simulate, startOperator } from './support';

/** service-api 4.2 to 4.4. */
afterEach(endAll);

test('every accepted status is kept in order of arrival, repeats included', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow({ metadata: { id: 'm-1' } });
  for (const name of ['started', 'released', 'detained', 'detained', 'canceled'] as const) {
    const answer = await simulator.operate(name, requestOf(name, tow));
    expect(answer.json).toMatchObject({
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

test('an invoice charges the tow with 15 % VAT and the delay by the day', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  const answer = await simulator.operate('invoice', { ...requestOf('invoice', tow), delay_in_days: 3 });

  expect(answer.json).toMatchObject({
    data: {
      towing_reference_id: tow.towing_reference_id,
      towing_invoice: { total_amount: 345, paid_amount: 0, tax: 45 },
      delay_invoice: { total_amount: 172.5, paid_amount: 0, tax: 22.5 },
      metadata: tow.metadata,
    },
  });
});

test('without delay the delay invoice is all zeros', async () => {
  const simulator = await simulate();
  const request = { ...requestOf('invoice', await simulator.orderTow()), delay_in_days: 0 };

  expect((await simulator.operate('invoice', request)).json).toMatchObject({
    data: { delay_invoice: { total_amount: 0, paid_amount: 0, tax: 0 } },
  });
});

test('a second create makes a second invoice, with a webhook and numbers of its own', async () => {
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

test('a paid invoice is paid in full', async () => {
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
