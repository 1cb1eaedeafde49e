import { Webhook } from 'standardwebhooks';
import { towInvoiceWebhook, towRequestWebhook } from '../../src/contracts/webhook/webhooks';
import { systemClock } from '../../src/platform/clock';
import { eventually } from '../support/eventually';
import { requestOf } from './requests';
import { endAll, matching, simulate, startOperator, type PostedWebhook } from './support';

/** docs/service-api.md#webhooks. */
afterEach(endAll);

const secretOf = (text: string) => `whsec_${Buffer.from(text).toString('base64')}`;
const secrets = {
  tow_request: [secretOf('tow request, the new secret'), secretOf('tow request, the old secret')],
  tow_invoice: [secretOf('tow invoice, its own secret')],
};

function verify(secret: string | undefined, { text, headers }: PostedWebhook): unknown {
  const signed = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  return new Webhook(secret ?? '').verify(text, Object.fromEntries(signed));
}

test('sends a tow request to its path, in its contract format and signed with the first secret', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: `${operator.url}/hooks/`, webhookSecrets: secrets });
  const tow = await simulator.orderTow({ send: true, metadata: { id: 'م-1' } });
  const [posted] = await operator.received(1);
  if (!posted) throw new Error('nothing posted');

  expect(posted.path).toBe('/hooks/tow-request');
  expect(posted.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-id': matching(/^msg_.+/),
  });
  expect(towRequestWebhook.parse(posted.body)).toEqual(tow);
  expect(verify(secrets.tow_request[0], posted)).toEqual(tow);
  expect(() => verify(secrets.tow_request[1], posted)).toThrow('No matching signature');
  expect(() => verify(secrets.tow_invoice[0], posted)).toThrow('No matching signature');
});

test('lists the attempts to deliver webhooks, until they are deleted', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  await simulator.orderTow({ send: true });
  await operator.received(1);

  expect(await simulator.attempts()).toMatchObject([{ kind: 'tow_request', attempt: 1 }]);
  await simulator.control('DELETE', '/webhooks').expect(204);
  expect(await simulator.attempts()).toEqual([]);
});

test('sends the webhook of a created invoice to its path, with its amounts and signed with its own secret', async () => {
  const operator = await startOperator();
  const simulator = await simulate({
    webhookUrl: () => operator.url,
    webhookSecrets: secrets,
    invoiceWebhookDelayMs: 1,
  });
  const tow = await simulator.orderTow();
  await simulator.operate('invoice', requestOf('invoice', tow));
  const [posted] = await operator.received(1);
  if (!posted) throw new Error('nothing posted');

  expect(posted.path).toBe('/tow/invoice');
  const charge = { invoice_number: matching(/\S/), vat_number: matching(/^3\d{13}3$/) };
  expect(towInvoiceWebhook.parse(posted.body)).toEqual({
    ...tow,
    towing_invoice: { ...charge, total_amount: 345, paid_amount: 0, tax: 45 },
    delay_invoice: { ...charge, total_amount: 115, paid_amount: 0, tax: 15 },
  });
  expect(verify(secrets.tow_invoice[0], posted)).toEqual(posted.body);
});

test('the simulator sends a webhook with an id and without a signature when no secret is configured', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  await simulator.orderTow({ send: true });
  const [posted] = await operator.received(1);

  expect(posted?.headers).toHaveProperty('webhook-id');
  expect(posted?.headers).not.toHaveProperty('webhook-signature');
});

test('the simulator retries a refused webhook with the same id and body and a new timestamp until a 2xx', async () => {
  const operator = await startOperator([500, 302, 404, 204]);
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + operator.posted.length * 60_000 };
  const simulator = await simulate({
    clock,
    webhookUrl: operator.url,
    webhookSecrets: secrets,
    retryDelaysMs: [1, 1, 1, 1, 1],
  });
  await simulator.orderTow({ send: true });
  const posted = await operator.received(4);
  await eventually(async () => expect((await simulator.attempts()).at(-1)?.status).toBe(204));

  expect(new Set(posted.map(({ headers, text }) => `${String(headers['webhook-id'])} ${text}`)).size).toBe(1);
  const times = posted.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(59);
  for (const each of posted) expect(verify(secrets.tow_request[0], each)).toEqual(each.body);
  expect((await simulator.attempts()).map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, 500],
    [2, 302],
    [3, 404],
    [4, 204],
  ]);
});

test('the simulator gives up a webhook when every attempt of its retry schedule was refused', async () => {
  const operator = await startOperator([500, 500, 500]);
  const lines: string[] = [];
  const note = (event: string) => void lines.push(event);
  const log = { debug: () => {}, info: note, warn: note, error: note, with: () => log };
  const simulator = await simulate({ log, webhookUrl: operator.url, retryDelaysMs: [1, 1] });
  await simulator.orderTow({ send: true });
  await eventually(() => expect(lines).toContain('simulator.webhook_given_up'));

  expect(operator.posted).toHaveLength(3);
});

test.each(['http://127.0.0.1:1', 'ftp://127.0.0.1', 'no address'])(
  'the simulator retries a webhook to the unreachable operator URL %s until the operator can be reached',
  async (unreachable) => {
    const operator = await startOperator();
    let url = unreachable;
    const simulator = await simulate({ webhookUrl: () => url, retryDelaysMs: Array<number>(1000).fill(5) });
    await simulator.orderTow({ send: true });
    await eventually(async () => expect((await simulator.attempts()).length).toBeGreaterThan(2));
    url = operator.url;
    await operator.received(1);

    expect((await simulator.attempts()).slice(0, 2)).toMatchObject([
      { attempt: 1, status: null },
      { attempt: 2, status: null },
    ]);
  },
);

test('answers a tow order without waiting for its webhook', async () => {
  const operator = await startOperator(['hold']);
  const simulator = await simulate({ webhookUrl: operator.url });

  await simulator.orderTow({ send: true });
  await operator.received(1);
  expect(await simulator.attempts()).toMatchObject([{ status: null }]);
});

test('ends pending and in-flight webhooks when the simulator stops', async () => {
  const operator = await startOperator([500, 'hold']);
  const simulator = await simulate({
    webhookUrl: operator.url,
    retryDelaysMs: [60_000],
    invoiceWebhookDelayMs: 60_000,
  });
  const tow = await simulator.orderTow({ send: true });
  await eventually(async () => expect((await simulator.attempts())[0]?.status).toBe(500));
  await simulator.operate('invoice', requestOf('invoice', tow));
  await simulator.orderTow({ send: true });
  await operator.received(2);

  // The pending delays exceed the timeout of the test, so a stop that waits for them fails.
  await simulator.stop(20);
  expect(operator.posted).toHaveLength(2);
});

test('delivers each of 1000 concurrent tow orders exactly once', async () => {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url });
  const tows = await simulator.orderTows({ count: 1000 });
  await operator.received(1000);

  const references = operator.posted.map(({ body }) => body['towing_reference_id']);
  expect(new Set(references)).toEqual(new Set(tows.map((tow) => tow.towing_reference_id)));
  expect(references).toHaveLength(1000);
});
