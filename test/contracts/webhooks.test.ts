import { failedRules } from '../../src/contracts/rules';
import { WEBHOOKS } from '../../src/contracts/webhook/webhooks';
import type { DeliveryKind } from '../../src/domain/vocabulary';
import { WEBHOOK_BODIES, without } from './messages';

const kinds = ['tow_request', 'tow_invoice'] as const;

/** The fields on which a webhook body breaks its contract. */
function broken(kind: DeliveryKind, body: unknown): string[] {
  const result = WEBHOOKS[kind].body.safeParse(body);
  return result.success ? [] : failedRules(result.error).map(({ field }) => field);
}

describe.each(kinds)('the webhook %s', (kind) => {
  const body = WEBHOOK_BODIES[kind];

  test('accepts the documented webhook unchanged', () => {
    expect(WEBHOOKS[kind].body.parse(body)).toEqual(body);
  });

  test.each(['violation_reference_id', 'towing_reference_id'])(
    'requires %s in a webhook as non-empty text',
    (field) => {
      expect(broken(kind, without(body, field))).toEqual([field]);
      for (const value of ['', null, 7, {}]) expect(broken(kind, { ...body, [field]: value })).toEqual([field]);
    },
  );

  test('accepts references of any format in a webhook', () => {
    expect(broken(kind, { ...body, towing_reference_id: 'x', violation_reference_id: 'ص ١' })).toEqual([]);
  });

  test('accepts a webhook with metadata, null or none', () => {
    expect(broken(kind, without(body, 'metadata'))).toEqual([]);
    expect(broken(kind, { ...body, metadata: null })).toEqual([]);
    expect(broken(kind, { ...body, metadata: {} })).toEqual([]);
    expect(broken(kind, { ...body, metadata: { shift: 2, deep: { list: [null] } } })).toEqual([]);
  });

  test('requires metadata.id in a webhook to be text', () => {
    for (const id of [7, null, {}, ['a'], true])
      expect(broken(kind, { ...body, metadata: { id } })).toEqual(['metadata.id']);
    expect(broken(kind, { ...body, metadata: { id: '' } })).toEqual([]);
  });

  test.each(['text', 7, ['a'], true])('rejects a webhook with metadata that is not an object: %p', (metadata) => {
    expect(broken(kind, { ...body, metadata })).toEqual(['metadata']);
  });

  test('keeps undocumented fields of a webhook at every depth', () => {
    const received = { ...body, new_field: { deep: [1, null] }, metadata: { id: 'a', more: { deep: true } } };

    expect(WEBHOOKS[kind].body.parse(received)).toEqual(received);
  });

  test('rejects a webhook that is not an object', () => {
    for (const value of [null, [], 'text', 7]) expect(broken(kind, value)).toEqual(['body']);
  });

  test('names every failing field of a webhook at once', () => {
    expect(broken(kind, { towing_reference_id: 7, metadata: { id: 1 }, towing_invoice: {} }).toSorted()).toEqual([
      'metadata.id',
      'towing_reference_id',
      'violation_reference_id',
    ]);
  });
});

describe('the invoice webhook', () => {
  const body = WEBHOOK_BODIES.tow_invoice;
  const charge = (changes: object) => ({ ...body, towing_invoice: { ...body.towing_invoice, ...changes } });

  test('an invoice webhook requires the towing invoice to be an object', () => {
    expect(broken('tow_invoice', without(body, 'towing_invoice'))).toEqual(['towing_invoice']);
    for (const value of [null, 'INV', 7, []]) {
      expect(broken('tow_invoice', { ...body, towing_invoice: value })).toEqual(['towing_invoice']);
    }
  });

  test('accepts an invoice webhook with a delay invoice, null or none', () => {
    expect(broken('tow_invoice', without(body, 'delay_invoice'))).toEqual([]);
    expect(broken('tow_invoice', { ...body, delay_invoice: null })).toEqual([]);
    expect(broken('tow_invoice', { ...body, delay_invoice: 'none' })).toEqual(['delay_invoice']);
  });

  test.each([345, 0, -1, 12.5, '345', '345.00', '-12.5', '0'])('an invoice webhook accepts the amount %p', (amount) => {
    expect(broken('tow_invoice', charge({ total_amount: amount, paid_amount: amount, tax: amount }))).toEqual([]);
  });

  test.each(['free', '', '12,50', '1e3', '12.50 SAR', '٣٤٥', true, {}, [1], Number.NaN, Number.POSITIVE_INFINITY])(
    'an invoice webhook rejects the amount %p and names each amount field',
    (amount) => {
      expect(broken('tow_invoice', charge({ total_amount: amount, paid_amount: amount, tax: amount }))).toEqual([
        'towing_invoice.total_amount',
        'towing_invoice.paid_amount',
        'towing_invoice.tax',
      ]);
    },
  );

  test.each([345, '345.00', ' 345.00 '])('an invoice webhook keeps the amount %p exactly as received', (amount) => {
    const parsed = WEBHOOKS.tow_invoice.body.parse(charge({ total_amount: amount }));

    expect(parsed.towing_invoice.total_amount).toBe(amount);
  });

  test('an invoice webhook keeps undocumented fields in both charges', () => {
    const received = { ...charge({ currency: 'SAR' }), delay_invoice: { ...body.delay_invoice, lines: [{ day: 1 }] } };

    expect(WEBHOOKS.tow_invoice.body.parse(received)).toEqual(received);
  });

  test('an invoice webhook accepts charges without any field', () => {
    expect(broken('tow_invoice', { ...body, towing_invoice: {}, delay_invoice: {} })).toEqual([]);
  });

  test.each(['INV-1', 7, null, { series: 'A' }, [1]])(
    'an invoice webhook keeps the invoice and VAT number %p',
    (number) => {
      const received = charge({ invoice_number: number, vat_number: number });

      expect(WEBHOOKS.tow_invoice.body.parse(received)).toEqual(received);
    },
  );
});
