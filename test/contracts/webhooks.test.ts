import { failedRules } from '../../src/contracts/rules';
import { WEBHOOKS } from '../../src/contracts/webhooks';
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

  test('passes as documented, unchanged', () => {
    expect(WEBHOOKS[kind].body.parse(body)).toEqual(body);
  });

  test.each(['violation_reference_id', 'towing_reference_id'])('needs %s as a text that is not empty', (field) => {
    expect(broken(kind, without(body, field))).toEqual([field]);
    for (const value of ['', null, 7, {}]) expect(broken(kind, { ...body, [field]: value })).toEqual([field]);
  });

  test('checks no format of a reference', () => {
    expect(broken(kind, { ...body, towing_reference_id: 'x', violation_reference_id: 'ص ١' })).toEqual([]);
  });

  test('may have metadata, null or none', () => {
    expect(broken(kind, without(body, 'metadata'))).toEqual([]);
    expect(broken(kind, { ...body, metadata: null })).toEqual([]);
    expect(broken(kind, { ...body, metadata: {} })).toEqual([]);
    expect(broken(kind, { ...body, metadata: { shift: 2, deep: { list: [null] } } })).toEqual([]);
  });

  test('needs metadata.id to be text when it is there', () => {
    for (const id of [7, null, {}, ['a'], true])
      expect(broken(kind, { ...body, metadata: { id } })).toEqual(['metadata.id']);
    expect(broken(kind, { ...body, metadata: { id: '' } })).toEqual([]);
  });

  test.each(['text', 7, ['a'], true])('takes no metadata that is no object: %p', (metadata) => {
    expect(broken(kind, { ...body, metadata })).toEqual(['metadata']);
  });

  test('keeps fields nobody told us of, at every depth', () => {
    const told = { ...body, new_field: { deep: [1, null] }, metadata: { id: 'a', more: { deep: true } } };

    expect(WEBHOOKS[kind].body.parse(told)).toEqual(told);
  });

  test('needs an object', () => {
    for (const value of [null, [], 'text', 7]) expect(broken(kind, value)).toEqual(['body']);
  });

  test('names every failing field at once', () => {
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

  test('needs a towing invoice that is an object', () => {
    expect(broken('tow_invoice', without(body, 'towing_invoice'))).toEqual(['towing_invoice']);
    for (const value of [null, 'INV', 7, []]) {
      expect(broken('tow_invoice', { ...body, towing_invoice: value })).toEqual(['towing_invoice']);
    }
  });

  test('may have a delay invoice, null or none', () => {
    expect(broken('tow_invoice', without(body, 'delay_invoice'))).toEqual([]);
    expect(broken('tow_invoice', { ...body, delay_invoice: null })).toEqual([]);
    expect(broken('tow_invoice', { ...body, delay_invoice: 'none' })).toEqual(['delay_invoice']);
  });

  test.each([345, 0, -1, 12.5, '345', '345.00', '-12.5', '0'])('takes the amount %p', (amount) => {
    expect(broken('tow_invoice', charge({ total_amount: amount, paid_amount: amount, tax: amount }))).toEqual([]);
  });

  test.each(['free', '', '12,50', '1e3', '12.50 SAR', '٣٤٥', true, {}, [1], Number.NaN, Number.POSITIVE_INFINITY])(
    'takes no amount %p, and names each that is one',
    (amount) => {
      expect(broken('tow_invoice', charge({ total_amount: amount, paid_amount: amount, tax: amount }))).toEqual([
        'towing_invoice.total_amount',
        'towing_invoice.paid_amount',
        'towing_invoice.tax',
      ]);
    },
  );

  test.each([345, '345.00', ' 345.00 '])('passes the amount %p on exactly as it came', (amount) => {
    const parsed = WEBHOOKS.tow_invoice.body.parse(charge({ total_amount: amount }));

    expect(parsed.towing_invoice.total_amount).toBe(amount);
  });

  test('keeps fields nobody told us of inside both charges', () => {
    const told = { ...charge({ currency: 'SAR' }), delay_invoice: { ...body.delay_invoice, lines: [{ day: 1 }] } };

    expect(WEBHOOKS.tow_invoice.body.parse(told)).toEqual(told);
  });

  test('relies on the presence of no field of a charge', () => {
    expect(broken('tow_invoice', { ...body, towing_invoice: {}, delay_invoice: {} })).toEqual([]);
  });

  test.each(['INV-1', 7, null, { series: 'A' }, [1]])('takes the invoice and VAT number %p and keeps it', (number) => {
    const told = charge({ invoice_number: number, vat_number: number });

    expect(WEBHOOKS.tow_invoice.body.parse(told)).toEqual(told);
  });
});
