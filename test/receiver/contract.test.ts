import { useApp } from '../support/app';
import { KEYS } from '../../src/store/keys';
import { keysIn, post, quarantinedIn, towInvoice, towRequest, type Path } from './calls';

const app = useApp({ role: 'receiver' });

function textOf(body: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(body);
}

const charge = { total_amount: 115, paid_amount: 0, tax: 15 };

const BROKEN: readonly { what: string; path: Path; body: string; code: string; fields: readonly [string, RegExp][] }[] =
  [
    {
      what: 'not JSON',
      path: '/tow-request',
      body: '{"towing_reference_id":',
      code: 'not_json',
      fields: [['body', /JSON/]],
    },
    { what: 'empty', path: '/tow-request', body: '', code: 'not_json', fields: [['body', /JSON/]] },
    { what: 'a list', path: '/tow-request', body: '[]', code: 'contract_broken', fields: [['body', /object/]] },
    { what: 'null', path: '/tow-request', body: 'null', code: 'contract_broken', fields: [['body', /object/]] },
    {
      what: 'without any field',
      path: '/tow-request',
      body: '{}',
      code: 'contract_broken',
      fields: [
        ['violation_reference_id', /non-empty string/],
        ['towing_reference_id', /non-empty string/],
      ],
    },
    {
      what: 'with an empty reference',
      path: '/tow-request',
      body: textOf(towRequest({ towing_reference_id: '' })),
      code: 'contract_broken',
      fields: [['towing_reference_id', /non-empty/]],
    },
    {
      what: 'with a reference of another type',
      path: '/tow-request',
      body: textOf(towRequest({ violation_reference_id: 7 })),
      code: 'contract_broken',
      fields: [['violation_reference_id', /string/]],
    },
    {
      what: 'with metadata that is no object',
      path: '/tow-request',
      body: textOf(towRequest({ metadata: 'patrol-17' })),
      code: 'contract_broken',
      fields: [['metadata', /record|object/]],
    },
    {
      what: 'with a metadata id that is no string',
      path: '/tow-request',
      body: textOf(towRequest({ metadata: { id: 17 } })),
      code: 'contract_broken',
      fields: [['metadata.id', /string/]],
    },
    {
      what: 'an invoice without its charge',
      path: '/tow/invoice',
      body: textOf(towInvoice({ towing_invoice: undefined })),
      code: 'contract_broken',
      fields: [['towing_invoice', /required/]],
    },
    {
      what: 'an invoice whose charge is null',
      path: '/tow/invoice',
      body: textOf(towInvoice({ towing_invoice: null })),
      code: 'contract_broken',
      fields: [['towing_invoice', /object/]],
    },
    {
      what: 'an invoice with amounts that are none',
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

describe.each(BROKEN)('a call that is $what', ({ path, body, code, fields }) => {
  it('is answered 400 with every failing field and its rule', async () => {
    const answered = await post(app.receiverUrl, path, body);
    expect([answered.status, answered.body.code]).toEqual([400, code]);
    const details = answered.body.details ?? [];
    expect(details.map(({ field }) => field).toSorted()).toEqual(fields.map(([field]) => field).toSorted());
    for (const [field, rule] of fields) {
      expect(details.find((detail) => detail.field === field)?.rule).toMatch(rule);
      expect(answered.body.message).toContain(field);
    }
  });

  it('is kept raw in quarantine and queues nothing: no delivery, no due mark, no job', async () => {
    const answered = await post(app.receiverUrl, path, body);
    expect(await keysIn(app.redis)).toEqual([KEYS.quarantine]);
    expect(await quarantinedIn(app.foundation)).toMatchObject([
      { path, raw_body: body, details: answered.body.details },
    ]);
  });
});

describe('a call nested too deeply', () => {
  const nested = (depth: number) =>
    JSON.stringify(towRequest({ metadata: 'DEEP' })).replace('"DEEP"', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

  it('is answered 400 and queues nothing', async () => {
    const answered = await post(app.receiverUrl, '/tow-request', nested(100_000));
    expect([answered.status, answered.body.code]).toEqual([400, 'contract_broken']);
    expect(answered.body.details).toEqual([{ field: 'body', rule: 'is nested too deeply' }]);
    expect(await keysIn(app.redis)).toEqual([KEYS.quarantine]);
  });
});

it('an amount as text that is no number is refused in words, not as a pattern', async () => {
  const body = towInvoice({ towing_invoice: { ...charge, tax: '1,5' } });
  const answered = await post(app.receiverUrl, '/tow/invoice', body);
  expect(answered.status).toBe(400);
  expect(answered.body.details).toEqual([
    { field: 'towing_invoice.tax', rule: 'must be a number or a numeric string' },
  ]);
});

it.each([
  ['a field nobody knows', '/tow-request', towRequest({ odd: 'HUGE' })],
  ['metadata', '/tow-request', towRequest({ metadata: { odd: 'HUGE' } })],
  ['an amount', '/tow/invoice', towInvoice({ towing_invoice: { tax: 'HUGE' } })],
  ['an unknown field of a charge', '/tow/invoice', towInvoice({ towing_invoice: { odd: 'HUGE' } })],
] as const)('a number beyond every range in %s never looks like a failure of ours', async (_where, path, body) => {
  const answered = await post(app.receiverUrl, path, textOf(body).replace('"HUGE"', '1e999'));
  expect([200, 400]).toContain(answered.status);
});

it('a call that broke the contract is taken once it is mended: it took no delivery key', async () => {
  const broken = towRequest({ metadata: { id: 17 } });
  expect((await post(app.receiverUrl, '/tow-request', broken, { 'webhook-id': 'msg_1' })).status).toBe(400);
  const mended = await post(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': 'msg_1' });
  expect([mended.status, mended.body.code]).toEqual([200, 'accepted']);
});

it('the quarantine keeps the newest 500 calls, each cut at a sane length', async () => {
  const long = `"${'x'.repeat(200_000)}`;
  for (let sent = 0; sent < 520; sent += 40) {
    await Promise.all(
      Array.from({ length: 40 }, (_, at) => post(app.receiverUrl, '/tow-request', `no JSON ${sent + at}`)),
    );
  }
  await post(app.receiverUrl, '/tow-request', long);
  expect(await app.redis.ask('LLEN', KEYS.quarantine)).toBe(500);
  const [newest] = await quarantinedIn(app.foundation);
  expect(long.startsWith(newest?.raw_body ?? '-')).toBe(true);
  expect(newest?.raw_body.length).toBeLessThan(100_000);
});
