import { useApp } from '../support/app';
import { bodyOf, deliver, deliveriesIn, keysIn, towInvoice, towRequest, type Path } from './calls';

const app = useApp({ role: 'receiver' });

function textOf(body: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(body);
}

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
    webhook: 'an object with nothing but metadata',
    path: '/tow-request',
    body: '{"metadata":{"id":"7"}}',
    code: 'contract_broken',
    fields: [['towing_reference_id', /non-empty string/]],
  },
  {
    webhook: 'a tow request with an empty reference',
    path: '/tow-request',
    body: textOf(towRequest({ towing_reference_id: '' })),
    code: 'contract_broken',
    fields: [['towing_reference_id', /non-empty/]],
  },
];

const charge = { total_amount: 115, paid_amount: 0, tax: 15 };

/** Webhooks that break the contract and name a tow. */
const DIFFERING: readonly (readonly [webhook: string, path: Path, body: string])[] = [
  ['a violation reference that is a list', '/tow-request', textOf(towRequest({ violation_reference_id: ['V'] }))],
  ['no violation reference', '/tow-request', textOf(towRequest({ violation_reference_id: undefined }))],
  ['metadata that is no JSON', '/tow-request', textOf(towRequest({ metadata: 'patrol-17' }))],
  ['a metadata id that is a list', '/tow-request', textOf(towRequest({ metadata: { id: [17] } }))],
  ['no towing_invoice', '/tow/invoice', textOf(towInvoice({ towing_invoice: undefined }))],
  ['towing_invoice null', '/tow/invoice', textOf(towInvoice({ towing_invoice: null }))],
  ['an ambiguous amount', '/tow/invoice', textOf(towInvoice({ towing_invoice: { ...charge, tax: '1,5' } }))],
  ['its tow in data', '/tow-request', textOf({ code: 200, data: towRequest() })],
  ['its tow in an item of a list', '/tow/invoice', `[${textOf(towInvoice())}]`],
  ['a number out of range', '/tow/invoice', textOf(towInvoice({ odd: 'HUGE' })).replace('"HUGE"', '1e999')],
];

describe('receiver: webhook that breaks the contract and names a tow', () => {
  it.each(DIFFERING)('answers a webhook with %s with 200 and stores it whole', async (_webhook, path, body) => {
    await deliver(app.receiverUrl, path, body).expect(200, { code: 'accepted' });
    await deliver(app.receiverUrl, path, body).expect(200, { code: 'already_known' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([
      { towingReferenceId: 'TW-20261120-9F4D1A', rawBody: body, state: 'waiting', copies: 2 },
    ]);
  });

  it('stores two webhooks that differ only in a number out of range as two deliveries', async () => {
    for (const number of ['1e999', '2e999', 'null']) {
      const body = textOf(towRequest({ odd: 'HUGE' })).replace('"HUGE"', number);
      await deliver(app.receiverUrl, '/tow-request', body).expect(200, { code: 'accepted' });
    }
  });
});

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

  it.each(INVALID)('stores and queues nothing of $webhook', async ({ path, body }) => {
    await deliver(app.receiverUrl, path, body);
    expect(await keysIn(app.redis)).toEqual([]);
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
    expect(await keysIn(app.redis)).toEqual([]);
  });
});
