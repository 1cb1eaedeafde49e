import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';
import { requestOf } from './requests';
import { endAll, simulate, startOperator } from './support';

/** Faults on the webhooks the service sends. */
afterEach(endAll);

async function prepared() {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, retryDelaysMs: [5, 5, 5], invoiceWebhookDelayMs: 0 });
  const order = async () => (await simulator.orderTow({ send: true })).towing_reference_id;
  const references = () => operator.posted.map(({ body }) => body['towing_reference_id']);
  return { operator, simulator, order, references };
}

test('fault drop discards attempts, and the retry schedule still delivers the webhook', async () => {
  const { operator, simulator, order } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'drop', times: 2 });
  await order();
  await operator.received(1);
  await eventually(async () => expect((await simulator.attempts()).at(-1)?.status).toBe(200));

  expect(await simulator.attempts()).toMatchObject([
    { attempt: 1, status: null, fault: 'drop' },
    { attempt: 2, status: null, fault: 'drop' },
    { attempt: 3, status: 200, fault: null },
  ]);
  expect(operator.posted).toHaveLength(1);
});

test('fault duplicate sends the same webhook twice and does not retry it', async () => {
  const { operator, simulator, order } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'duplicate' });
  await order();
  const posted = await operator.received(2);
  await eventually(async () => {
    expect((await simulator.attempts()).filter(({ status }) => status !== 200)).toEqual([]);
  });

  expect(new Set(posted.map(({ headers, text }) => `${String(headers['webhook-id'])} ${text}`)).size).toBe(1);
  expect(await simulator.attempts()).toMatchObject([{ attempt: 1 }, { attempt: 1 }]);
});

test('fault lost_answer sends an accepted webhook again under the same id', async () => {
  const { operator, simulator, order } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'lost_answer', times: 1 });
  await order();
  const posted = await operator.received(2);

  expect(posted[0]?.headers['webhook-id']).toBe(posted[1]?.headers['webhook-id']);
});

test('fault reorder delays a webhook until the next one is sent', async () => {
  const { operator, simulator, order, references } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'reorder', times: 1, ms: 60_000 });
  const delayed = await order();
  const next = await order();
  await operator.received(2);

  expect(references()).toEqual([next, delayed]);
});

test('fault reorder sends the delayed webhook after its time when no other webhook follows', async () => {
  const { operator, simulator, order, references } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'reorder', ms: 20 });
  const delayed = await order();
  await operator.received(1);

  expect(references()).toEqual([delayed]);
});

test('fault reorder lets an invoice overtake its tow request', async () => {
  const { operator, simulator } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault: 'reorder', times: 1, ms: 60_000 });
  const tow = await simulator.orderTow({ send: true });
  await simulator.operate('invoice', requestOf('invoice', tow));

  expect((await operator.received(2)).map(({ path }) => path)).toEqual(['/tow/invoice', '/tow-request']);
});

test.each(['latency', 'late'])('fault %s sends a webhook after its delay', async (fault) => {
  const { operator, simulator, order } = await prepared();
  await simulator.faults({ operation: 'tow_request', fault, ms: 60 });
  const startedMs = systemClock.monotonicMs();
  await order();
  await operator.received(1);

  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(55);
});

test('the simulator limits a webhook fault to its kind or to its tow', async () => {
  const { operator, simulator, order } = await prepared();
  const tow = await simulator.orderTow();
  await simulator.faults(
    { operation: 'tow_invoice', fault: 'drop' },
    { operation: 'tow_request', fault: 'drop', towing_reference_id: tow.towing_reference_id },
  );
  const other = await order();
  await operator.received(1);

  expect(operator.posted.map(({ body }) => body['towing_reference_id'])).toEqual([other]);
  expect((await simulator.attempts()).filter(({ fault }) => fault !== null)).toEqual([]);
});

test('does not apply an operation fault on * to webhooks', async () => {
  const { operator, simulator, order } = await prepared();
  await simulator.faults({ operation: '*', fault: '500' });
  await order();
  await operator.received(1);

  expect((await simulator.attempts()).map(({ fault }) => fault)).toEqual([null]);
});
