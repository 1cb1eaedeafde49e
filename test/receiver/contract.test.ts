import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { bodyOf, deliver, keysIn, quarantinedIn, towInvoice, towRequest, type Path } from './calls';

const app = useApp({ role: 'receiver' });

function textOf(body: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(body);
}

const charge = { total_amount: 115, paid_amount: 0, tax: 15 };

interface InvalidWebhook {
  /** The webhook, as the test names describe it. */
  readonly webhook: string;
  readonly path: Path;
  readonly body: string;
  readonly code: string;
  readonly fields: readonly [string, RegExp][];
}

const INVALID: readonly InvalidWebhook[] = [
  {
    webhook: 'a body that is not JSON',
    path: '/tow-request',
    body: '{"towing_reference_id":',
    code: 'not_json',
    fields: [['body', /JSON/]],
  },
  { webhook: 'an empty body', path: '/tow-request', body: '', code: 'not_json', fields: [['body', /JSON/]] },
  {
    webhook: 'a body that is a JSON array',
    path: '/tow-request',
    body: '[]',
    code: 'contract_broken',
    fields: [['body', /object/]],
  },
  {
    webhook: 'a body that is null',
    path: '/tow-request',
    body: 'null',
    code: 'contract_broken',
    fields: [['body', /object/]],
  },
  {
    webhook: 'an object without any field',
    path: '/tow-request',
    body: '{}',
    code: 'contract_broken',
    fields: [
      ['violation_reference_id', /non-empty string/],
      ['towing_reference_id', /non-empty string/],
    ],
  },
  {
    webhook: 'a tow request with an empty reference',
    path: '/tow-request',
    body: textOf(towRequest({ towing_reference_id: '' })),
    code: 'contract_broken',
    fields: [['towing_reference_id', /non-empty/]],
  },
  {
    webhook: 'a tow request whose violation reference is a number',
    path: '/tow-request',
    body: textOf(towRequest({ violation_reference_id: 7 })),
    code: 'contract_broken',
    fields: [['violation_reference_id', /string/]],
  },
  {
    webhook: 'a tow request whose metadata is a string',
    path: '/tow-request',
    body: textOf(towRequest({ metadata: 'patrol-17' })),
    code: 'contract_broken',
    fields: [['metadata', /record|object/]],
  },
  {
    webhook: 'a tow request whose metadata id is a number',
    path: '/tow-request',
    body: textOf(towRequest({ metadata: { id: 17 } })),
    code: 'contract_broken',
    fields: [['metadata.id', /string/]],
  },
  {
    webhook: 'a tow invoice without towing_invoice',
    path: '/tow/invoice',
    body: textOf(towInvoice({ towing_invoice: undefined })),
    code: 'contract_broken',
    fields: [['towing_invoice', /required/]],
  },
  {
    webhook: 'a tow invoice whose towing_invoice is null',
    path: '/tow/invoice',
    body: textOf(towInvoice({ towing_invoice: null })),
    code: 'contract_broken',
    fields: [['towing_invoice', /object/]],
  },
  {
    webhook: 'a tow invoice with amounts that are not numbers',
    path: '/tow/invoice',
    body: textOf(
      towInvoice({
        towing_invoice: { ...charge, total_amount: [115] },
        delay_invoice: { ...charge, tax: true, paid_amount: {} },
      }),
    ),
    code: 'contract_broken',
    fields: [
      ['towing_invoice.total_amount', /number/],
      ['delay_invoice.tax', /number/],
      ['delay_invoice.paid_amount', /number/],
    ],
  },
];

describe('receiver: invalid webhook', () => {
  it.each(INVALID)('answers $webhook with 400 and names every failing field and its rule', async (invalid) => {
    const response = await deliver(app.receiverUrl, invalid.path, invalid.body).expect(400);
    const { code, details = [], message } = bodyOf(response);
    expect(code).toBe(invalid.code);
    expect(details.map(({ field }) => field).toSorted()).toEqual(invalid.fields.map(([field]) => field).toSorted());
    for (const [field, rule] of invalid.fields) {
      expect(details.find((detail) => detail.field === field)?.rule).toMatch(rule);
      expect(message).toContain(field);
    }
  });

  it.each(INVALID)('keeps $webhook raw in quarantine and queues nothing', async ({ path, body }) => {
    const response = await deliver(app.receiverUrl, path, body);
    expect(await keysIn(app.redis)).toEqual([KEYS.quarantine]);
    expect(await quarantinedIn(app.foundation)).toMatchObject([
      { path, raw_body: body, details: bodyOf(response).details },
    ]);
  });

  it('answers a tow request that is nested too deeply with 400 and queues nothing', async () => {
    const depth = 15_000;
    const deep = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const body = JSON.stringify(towRequest({ metadata: 'DEEP' })).replace('"DEEP"', deep);
    const response = await deliver(app.receiverUrl, '/tow-request', body).expect(400);
    expect(bodyOf(response)).toMatchObject({
      code: 'contract_broken',
      details: [{ field: 'body', rule: 'is nested too deeply' }],
    });
    expect(await keysIn(app.redis)).toEqual([KEYS.quarantine]);
  });

  it('refuses an amount in non-numeric text with a rule in plain words, not a pattern', async () => {
    const body = towInvoice({ towing_invoice: { ...charge, tax: '1,5' } });
    const response = await deliver(app.receiverUrl, '/tow/invoice', body).expect(400);
    expect(bodyOf(response).details).toEqual([
      { field: 'towing_invoice.tax', rule: 'must be a number or a numeric string' },
    ]);
  });

  it.each([
    ['an unknown field', '/tow-request', towRequest({ odd: 'HUGE' })],
    ['metadata', '/tow-request', towRequest({ metadata: { odd: 'HUGE' } })],
    ['an amount', '/tow/invoice', towInvoice({ towing_invoice: { tax: 'HUGE' } })],
    ['an unknown field of a charge', '/tow/invoice', towInvoice({ towing_invoice: { odd: 'HUGE' } })],
  ] as const)(
    'answers a number out of range in %s with 200 or 400, never with a server error',
    async (_where, path, body) => {
      await deliver(app.receiverUrl, path, textOf(body).replace('"HUGE"', '1e999')).expect([200, 400]);
    },
  );

  it('accepts a corrected webhook under the signature id of the refused one', async () => {
    const broken = towRequest({ metadata: { id: 17 } });
    await deliver(app.receiverUrl, '/tow-request', broken, { 'webhook-id': 'msg_1' }).expect(400);
    const corrected = await deliver(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': 'msg_1' });
    expect([corrected.status, bodyOf(corrected).code]).toEqual([200, 'accepted']);
  });

  it('keeps the newest 500 refused webhooks in quarantine and cuts each below 100,000 characters', async () => {
    const long = `"${'x'.repeat(120_000)}`;
    for (let sent = 0; sent < 520; sent += 40) {
      await Promise.all(
        Array.from({ length: 40 }, (_, at) => deliver(app.receiverUrl, '/tow-request', `no JSON ${sent + at}`)),
      );
    }
    await deliver(app.receiverUrl, '/tow-request', long);
    expect(await app.redis.ask('LLEN', KEYS.quarantine)).toBe(500);
    const [newest] = await quarantinedIn(app.foundation);
    expect(long.startsWith(newest?.raw_body ?? '-')).toBe(true);
    expect(newest?.raw_body.length).toBeLessThan(100_000);
  });
});
