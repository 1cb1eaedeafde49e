import * as fc from 'fast-check';
import { halalas, reconcile } from '../../src/domain/tow/charges';
import type { Json } from '../../src/domain/vocabulary';

describe('halalas', () => {
  test.each([
    [345, 34_500],
    [0, 0],
    [0.1, 10],
    [0.29, 29],
    [1.15, 115],
    [19.99, 1999],
    [4.35, 435],
    [-12.5, -1250],
    ['345', 34_500],
    ['345.00', 34_500],
    ['0.29', 29],
    [' 17.25 ', 1725],
    ['-12.5', -1250],
  ])('an amount of %p SAR is %i halalas', (amount, expected) => {
    expect(halalas(amount)).toBe(expected);
  });

  test.each([
    ['words', 'free'],
    ['a comma', '12,50'],
    ['a currency', '12.50 SAR'],
    ['an exponent', '1e3'],
    ['an empty text', ''],
    ['blanks', '  '],
    ['null', null],
    ['nothing', undefined],
    ['true', true],
    ['a list', [1]],
    ['an object', { amount: 1 }],
    ['an amount past all integers', 1e300],
  ])('halalas are not read from %s', (_what, amount: Json | undefined) => {
    expect(halalas(amount)).toBeNull();
  });

  test('halalas are read exactly from every amount with two decimals, as number and as text', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000_000_000, max: 1_000_000_000_000 }), (amount) => {
        expect(halalas(amount / 100)).toBe(amount);
        expect(halalas((amount / 100).toFixed(2))).toBe(amount);
      }),
    );
  });
});

describe('differences between two readings of an invoice', () => {
  const charge = (total: Json, tax: Json, paid: Json = 0) => ({ total_amount: total, tax, paid_amount: paid });

  test('equal readings of an invoice have no differences', () => {
    const invoice = { towingInvoice: charge(345, 45), delayInvoice: charge(115, 15) };

    expect(reconcile(invoice, invoice)).toEqual([]);
  });

  test('readings of an invoice that only spell amounts differently have no differences', () => {
    const answer = { towingInvoice: charge(345, 45), delayInvoice: null };
    const webhook = { towingInvoice: charge('345.00', '45.0'), delayInvoice: null };

    expect(reconcile(answer, webhook)).toEqual([]);
  });

  test.each([
    ['345.01', []],
    ['344.99', []],
    ['345.02', ['towing_invoice.total_amount']],
    ['344.98', ['towing_invoice.total_amount']],
  ])('readings of an invoice may differ by 1 halala and no more: 345 and %s', (total, fields) => {
    const answer = { towingInvoice: charge(345, 45), delayInvoice: null };

    expect(reconcile(answer, { towingInvoice: charge(total, 45), delayInvoice: null })).toEqual(fields);
  });

  test('readings of an invoice that differ in every amount report each amount', () => {
    const answer = { towingInvoice: charge(345, 45), delayInvoice: charge(115, 15) };
    const webhook = { towingInvoice: charge(300, 40), delayInvoice: charge(100, 10) };

    expect(reconcile(answer, webhook)).toEqual([
      'towing_invoice.total_amount',
      'towing_invoice.tax',
      'delay_invoice.total_amount',
      'delay_invoice.tax',
    ]);
  });

  test('the paid amount of a webhook may be higher than that of the answer only after a payment was recorded', () => {
    const unpaid = { towingInvoice: charge(345, 45, 0), delayInvoice: charge(115, 15, 0) };
    const paid = { towingInvoice: charge(345, 45, 345), delayInvoice: charge(115, 15, '115.00') };
    const names = ['towing_invoice.paid_amount', 'delay_invoice.paid_amount'];

    expect(reconcile(unpaid, paid)).toEqual(names);
    expect(reconcile(unpaid, paid, ['a payment'])).toEqual([]);
    expect(reconcile(paid, unpaid, ['a payment'])).toEqual(names);
  });

  test('an amount that one reading of an invoice lacks is not a difference', () => {
    const answer = { towingInvoice: charge(345, 45), delayInvoice: charge(115, 15) };

    expect(reconcile(answer, { towingInvoice: { total_amount: 345, tax: null }, delayInvoice: null })).toEqual([]);
    expect(reconcile({ ...answer, delayInvoice: null }, answer)).toEqual([]);
  });

  test('the differences between two readings of an invoice are symmetric and exact at the tolerance', () => {
    const cents = fc.integer({ min: 0, max: 10_000_000 });
    fc.assert(
      fc.property(cents, fc.integer({ min: -5, max: 5 }), (total, apart) => {
        const one = { towingInvoice: charge(total / 100, 0), delayInvoice: null };
        const other = { towingInvoice: charge(((total + apart) / 100).toFixed(2), 0), delayInvoice: null };
        expect(reconcile(one, other)).toEqual(reconcile(other, one));
        expect(reconcile(one, other)).toHaveLength(Math.abs(apart) > 1 ? 1 : 0);
      }),
    );
  });
});
