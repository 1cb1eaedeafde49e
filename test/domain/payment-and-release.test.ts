import { advance } from '../../src/domain/tow/facts';
import { isInvoiced } from '../../src/domain/tow/billing';
import type { Tow } from '../../src/domain/tow/tow';
import { COMMANDS, context, INVOICE_WEBHOOK, recorded, refusalOf, report, RULES, towAs } from './tows';

const detained = towAs('detained');
const invoiceWaiting = [report('invoice', 'pending')];
const withWebhook: Tow = { ...detained, invoiceWebhooks: [INVOICE_WEBHOOK] };

/** A detained tow whose invoice was asked for and paid with the given status. */
function paidWith(paymentStatus: string): Tow {
  return { ...detained, payments: [{ paymentStatus, externalReference: null }] };
}

describe('isInvoiced', () => {
  test.each(['pending', 'sending', 'accepted', 'refused', 'unknown'] as const)(
    'a tow with an invoice report that is %s is invoiced',
    (state) => {
      expect(isInvoiced(detained, [report('invoice', state)])).toBe(true);
    },
  );

  test('a tow with a waived invoice report is not invoiced', () => {
    expect(isInvoiced(detained, [report('invoice', 'waived')])).toBe(false);
  });

  test('a tow with other reports alone is not invoiced', () => {
    expect(isInvoiced(detained, [report('started', 'accepted'), report('detained', 'pending')])).toBe(false);
  });

  test('a tow with an invoice webhook attached is invoiced in any state of the report', () => {
    expect(isInvoiced(withWebhook, [report('invoice', 'waived')])).toBe(true);
    expect(isInvoiced(withWebhook, [])).toBe(true);
  });
});

describe('payments', () => {
  test.each([
    ['no invoice request', []],
    ['a waived invoice', [report('invoice', 'waived')]],
  ])('a payment with %s is refused: invoice_required', (_what, reports) => {
    expect(refusalOf(advance(detained, COMMANDS.payment, context({ reports })))).toMatchObject({
      kind: 'conflict',
      code: 'invoice_required',
    });
  });

  test.each([
    ['requested', towAs('requested')],
    ['canceled before its start', towAs('canceled')],
  ])('a payment of a tow that is %s is refused, also with an invoice webhook', (_what, tow) => {
    const invoiced = { ...tow, invoiceWebhooks: [INVOICE_WEBHOOK] };

    expect(refusalOf(advance(invoiced, COMMANDS.payment, context()))).toMatchObject({
      kind: 'conflict',
      code: 'transition_not_allowed',
    });
  });

  test('a payment of a tow that was canceled after its start is accepted, as its invoice remains valid', () => {
    const canceled = recorded(advance(towAs('started'), COMMANDS.canceled, context())).tow;
    const decision = advance({ ...canceled, invoiceWebhooks: [INVOICE_WEBHOOK] }, COMMANDS.payment, context());

    expect(recorded(decision).owed.kind).toBe('payment');
  });

  test('a payment whose report was waived is taken back, and the same one may be recorded again', () => {
    const reports = [...invoiceWaiting, report('payment', 'waived')];

    expect(recorded(advance(paidWith('PAID'), COMMANDS.payment, context({ reports }))).tow.payments).toHaveLength(2);
  });

  test('a payment is recorded once although an equal one was taken back', () => {
    const payments = ['PAID', 'PAID'].map((paymentStatus) => ({ paymentStatus, externalReference: null }));
    const reports = [...invoiceWaiting, report('payment', 'waived'), report('payment', 'pending')];

    expect(refusalOf(advance({ ...detained, payments }, COMMANDS.payment, context({ reports }))).code).toBe(
      'already_recorded',
    );
  });

  test('a payment without a status is PAID', () => {
    const { tow, owed } = recorded(advance(detained, COMMANDS.payment, context({ reports: invoiceWaiting })));

    expect(tow.payments).toEqual([{ paymentStatus: 'PAID', externalReference: null }]);
    expect(tow.state).toBe('detained');
    expect(owed.body['payment_status']).toBe('PAID');
  });

  test('a payment keeps its external reference and does not send it', () => {
    const command = { event: 'payment', externalReference: ' POS 88 ' } as const;
    const { tow, owed } = recorded(advance(detained, command, context({ reports: invoiceWaiting })));

    expect(tow.payments[0]?.externalReference).toBe('POS 88');
    expect(JSON.stringify(owed)).not.toContain('POS');
  });

  test('a payment with a status that is not configured is refused by field', () => {
    const command = { event: 'payment', paymentStatus: 'SETTLED' } as const;

    expect(refusalOf(advance(detained, command, context({ reports: invoiceWaiting }))).details).toEqual([
      { field: 'payment_status', rule: 'must be one of PAID' },
    ]);
  });

  test('a payment is accepted once per status, and none after PAID', () => {
    const rules = { ...RULES, paymentStatuses: ['PARTIAL', 'PENDING', 'PAID'] };
    const pay = (tow: Tow, paymentStatus: string) =>
      advance(tow, { event: 'payment', paymentStatus }, context({ reports: invoiceWaiting, rules }));

    const partly = recorded(pay(detained, 'PARTIAL')).tow;
    expect(refusalOf(pay(partly, 'PARTIAL')).code).toBe('already_recorded');
    const paid = recorded(pay(partly, 'PAID')).tow;
    expect(paid.payments.map(({ paymentStatus }) => paymentStatus)).toEqual(['PARTIAL', 'PAID']);
    for (const status of ['PARTIAL', 'PENDING', 'PAID']) {
      expect(refusalOf(pay(paid, status))).toMatchObject({ kind: 'conflict', code: 'already_recorded' });
    }
  });
});

describe('releases', () => {
  const releaseWith = (tow: Tow, mode: typeof RULES.releaseRequiresPayment, reports = invoiceWaiting) =>
    advance(tow, COMMANDS.released, context({ reports, rules: { ...RULES, releaseRequiresPayment: mode } }));

  test.each([
    ['invoiced', 'an invoice pending', detained, invoiceWaiting],
    ['invoiced', 'an invoice refused', detained, [report('invoice', 'refused')]],
    ['invoiced', 'an invoice webhook alone', withWebhook, []],
    ['always', 'an invoice pending', detained, invoiceWaiting],
    ['always', 'no invoice', detained, []],
    ['always', 'no invoice, on the spot', towAs('started'), []],
    ['invoiced', 'a payment that was taken back', paidWith('PAID'), [...invoiceWaiting, report('payment', 'waived')]],
    ['always', 'a payment that was taken back', paidWith('PAID'), [...invoiceWaiting, report('payment', 'waived')]],
  ] as const)(
    'a release in mode %s with %s and no payment is refused: payment_required',
    (mode, _what, tow, reports) => {
      expect(refusalOf(releaseWith(tow, mode, [...reports]))).toMatchObject({
        kind: 'conflict',
        code: 'payment_required',
      });
    },
  );

  test.each([
    ['invoiced', 'no invoice', detained, []],
    ['invoiced', 'no invoice, on the spot', towAs('started'), []],
    ['invoiced', 'a waived invoice', detained, [report('invoice', 'waived')]],
    ['invoiced', 'the payment recorded', paidWith('PAID'), invoiceWaiting],
    ['always', 'the payment recorded', paidWith('PAID'), invoiceWaiting],
    // Nothing can be paid: the request is final, and a second one is refused.
    [
      'always',
      'a waived invoice',
      recorded(advance(detained, COMMANDS.invoice, context())).tow,
      [report('invoice', 'waived')],
    ],
    ['never', 'no invoice', detained, []],
    ['never', 'an unpaid invoice', detained, invoiceWaiting],
    ['never', 'an unpaid invoice webhook', withWebhook, []],
  ] as const)('a release in mode %s with %s is accepted', (mode, _what, tow, reports) => {
    expect(recorded(releaseWith(tow, mode, [...reports])).tow.state).toBe('released');
  });
});
