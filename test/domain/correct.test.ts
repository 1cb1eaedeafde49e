import { advance } from '../../src/domain/advance';
import { correct, type Correction } from '../../src/domain/correct';
import type { Owed } from '../../src/domain/outbox';
import type { Tow } from '../../src/domain/tow';
import { COMMANDS, context, deepFreeze, fact, nowMs, recorded, refusalOf, report, RULES, towAs } from './tows';

const rules = { ...RULES, vehicleTypes: ['HEAVY', 'LIGHT'], paymentStatuses: ['PARTIAL', 'LATER', 'PAID'] };

/** Every payment of a tow has its report, in order; the ones named were waived. */
function paymentReports(tow: Tow, waived: readonly number[] = []) {
  return tow.payments.map((_payment, index) => ({
    ...report('payment', waived.includes(index) ? 'waived' : 'accepted'),
    id: `payment-${index}`,
  }));
}

const ask = (tow: Tow, owed: Owed, fields: Correction) => {
  const index = tow.payments.findIndex(({ paymentStatus }) => paymentStatus === owed.body['payment_status']);
  const corrected = { id: `payment-${index}`, ...owed };
  const reports = paymentReports(tow);
  return correct(deepFreeze(tow), deepFreeze(corrected), deepFreeze({ fields, rules, nowMs, reports }));
};

/** The corrected body, tow and kept values. */
function corrected(tow: Tow, owed: Owed, fields: Correction) {
  const decision = ask(tow, owed, fields);
  if (!decision.ok) throw new Error(`refused: ${decision.refusal.message}`);
  return decision;
}

const started = recorded(
  advance(towAs('requested'), { ...COMMANDS.started, occurredAt: '2026-03-10T10:00:00Z' }, context()),
);
const invoice = recorded(advance(towAs('detained'), { ...COMMANDS.invoice, delayInDays: 2 }, context({ rules })));
const paid = (paymentStatus: string, tow: Tow = invoice.tow) =>
  recorded(
    advance(tow, { event: 'payment', paymentStatus }, context({ rules, reports: [report('invoice', 'accepted')] })),
  );

/** By kind of report: what may be corrected, and to what. */
const CORRECTABLE = [
  ['started', started, { plate_number: 'XYZ 9', towed_location: 'Gate 3', latitude: 1.5, longitude: 2.5 }],
  [
    'canceled',
    recorded(advance(towAs('started'), COMMANDS.canceled, context())),
    { cancellation_reason: 'owner came' },
  ],
  ['invoice', invoice, { vehicle_type: 'LIGHT', delay_in_days: 0 }],
  ['payment', paid('PARTIAL'), { payment_status: 'PAID' }],
] as const;

describe('a correction', () => {
  test.each(CORRECTABLE)('of %s changes what it names, keeps order and the rest', (_kind, { tow, owed }, fields) => {
    const { body } = corrected(tow, owed, fields);

    expect(body).toEqual({ ...owed.body, ...fields });
    expect(Object.keys(body)).toEqual(Object.keys(owed.body));
  });

  test.each(CORRECTABLE)('of %s keeps old and new of every field', (_kind, { tow, owed }, given) => {
    const { fields } = corrected(tow, owed, given);

    expect(Object.keys(fields)).toEqual(Object.keys(given));
    for (const [name, value] of Object.entries<string | number>(given)) {
      expect(fields[name]).toEqual({ old: owed.body[name], new: value });
    }
  });

  test.each(CORRECTABLE)('of %s never changes a reference', (_kind, { tow, owed }, fields) => {
    for (const name of ['towing_reference_id', 'violation_reference_id']) {
      expect(refusalOf(ask(tow, owed, { ...fields, [name]: 'TW-other' })).details).toEqual([
        { field: name, rule: 'cannot be corrected' },
      ]);
    }
  });

  test.each(CORRECTABLE)('of %s that names nothing is refused', (_kind, { tow, owed }) => {
    expect(refusalOf(ask(tow, owed, {})).details.map(({ field }) => field)).toEqual(['body']);
    expect(refusalOf(ask(tow, owed, { plate_number: undefined })).kind).toBe('invalid');
  });

  test.each(['detained', 'released'] as const)('of %s has nothing to correct', (event) => {
    const { tow, owed } = recorded(advance(towAs('started'), COMMANDS[event], context()));

    expect(refusalOf(ask(tow, owed, {})).details).toEqual([{ field: 'body', rule: 'has nothing to correct' }]);
    expect(refusalOf(ask(tow, owed, { plate_number: 'X' })).kind).toBe('invalid');
  });

  test('with fields of other reports names every one of them', () => {
    const fields = { plate_number: 'X', payment_status: 'PAID', delay_in_days: 1 };

    expect(refusalOf(ask(invoice.tow, invoice.owed, fields)).details.map(({ field }) => field)).toEqual([
      'plate_number',
      'payment_status',
    ]);
  });

  test('to a value that is not configured is refused by field', () => {
    expect(refusalOf(ask(invoice.tow, invoice.owed, { vehicle_type: 'BIKE' })).details).toEqual([
      { field: 'vehicle_type', rule: 'must be one of HEAVY, LIGHT' },
    ]);
    const payment = paid('PARTIAL');
    expect(refusalOf(ask(payment.tow, payment.owed, { payment_status: 'paid' })).details).toEqual([
      { field: 'payment_status', rule: 'must be one of PARTIAL, LATER, PAID' },
    ]);
  });

  test('to a payment status that another payment already has is refused: each status is reported once', () => {
    const partly = paid('PARTIAL');
    const { tow } = paid('PAID', partly.tow);

    expect(refusalOf(ask(tow, partly.owed, { payment_status: 'PAID' })).kind).toMatch(/^(conflict|invalid)$/);
  });

  test('of a payment compares it only with the payments that still count, and changes no other', () => {
    const first = paid('PAID').tow;
    const tow: Tow = { ...first, payments: [...first.payments, { paymentStatus: 'PARTIAL', externalReference: null }] };
    const body = { towing_reference_id: tow.towingReferenceId, payment_status: 'PARTIAL' };
    const decision = correct(
      tow,
      { id: 'payment-1', kind: 'payment', body },
      { fields: { payment_status: 'PAID' }, rules, nowMs, reports: paymentReports(tow, [0]) },
    );
    expect(decision.ok && decision.tow.payments.map(({ paymentStatus }) => paymentStatus)).toEqual(['PAID', 'PAID']);
  });

  test('of one of two payments with the same status leaves the waived one as it was', () => {
    const first = paid('PAID').tow;
    const tow: Tow = { ...first, payments: [...first.payments, ...first.payments] };
    const body = { towing_reference_id: tow.towingReferenceId, payment_status: 'PAID' };
    const decision = correct(
      tow,
      { id: 'payment-1', kind: 'payment', body },
      { fields: { payment_status: 'PARTIAL' }, rules, nowMs, reports: paymentReports(tow, [0]) },
    );
    expect(decision.ok && decision.tow.payments.map(({ paymentStatus }) => paymentStatus)).toEqual(['PAID', 'PARTIAL']);
  });

  test('to PAID is refused for a payment that another one came after: nothing is reported after PAID', () => {
    const partly = paid('PARTIAL');
    const { tow } = paid('LATER', partly.tow);

    expect(refusalOf(ask(tow, partly.owed, { payment_status: 'PAID' })).kind).toMatch(/^(conflict|invalid)$/);
  });
});

describe('after a correction the tow says what its reports say', () => {
  test('its plate and place', () => {
    const { tow } = corrected(started.tow, started.owed, { plate_number: 'XYZ 9', latitude: 1.5 });

    expect(tow).toMatchObject({ plateNumber: 'XYZ 9', latitude: 1.5, towedLocation: 'King Fahd Road 12' });
    expect(tow.facts).toEqual(started.tow.facts);
  });

  test('its cancellation reason, invoice request and payment', () => {
    const canceled = recorded(advance(towAs('started'), COMMANDS.canceled, context()));
    expect(corrected(canceled.tow, canceled.owed, { cancellation_reason: 'owner came' }).tow).toMatchObject({
      cancellationReason: 'owner came',
    });

    expect(corrected(invoice.tow, invoice.owed, { delay_in_days: 7 }).tow.invoiceRequest).toMatchObject({
      vehicleType: 'HEAVY',
      delayInDays: 7,
    });

    const payment = paid('PARTIAL');
    expect(corrected(payment.tow, payment.owed, { payment_status: 'PAID' }).tow.payments).toEqual([
      { paymentStatus: 'PAID', externalReference: null },
    ]);
  });
});

describe('the time of a start', () => {
  const at = (status_update_time: string, tow: Tow = started.tow) => ask(tow, started.owed, { status_update_time });
  const detained = towAs('detained');

  test('in UTC is sent verbatim, with another offset as Z, and the fact follows', () => {
    const verbatim = corrected(started.tow, started.owed, { status_update_time: '2026-03-10T09:00:00Z' });
    const converted = corrected(started.tow, started.owed, { status_update_time: '2026-03-10T12:00:00+03:00' });

    expect(verbatim.body['status_update_time']).toBe('2026-03-10T09:00:00Z');
    expect(converted.body['status_update_time']).toBe('2026-03-10T09:00:00.000Z');
    expect(converted.tow.facts[0]).toMatchObject({ occurredAt: '2026-03-10T09:00:00.000Z' });
  });

  test.each(['noon', '2026-03-10T12:02:00.001Z'])('is refused by its wire name: %s', (time) => {
    expect(refusalOf(at(time)).details.map(({ field }) => field)).toEqual(['status_update_time']);
  });

  test('may come up to the next fact and not after it', () => {
    expect(at('2026-03-10T11:00:00Z', detained).ok).toBe(true);
    expect(refusalOf(at('2026-03-10T11:00:00.001Z', detained)).details.map(({ field }) => field)).toEqual([
      'status_update_time',
    ]);
  });

  test('may not come after the next fact of the field, also when an invoice was asked for in between', () => {
    const [start, arrival] = detained.facts;
    const tow = { ...detained, facts: [start, fact('invoice', '2026-03-10T11:50:00Z'), arrival].filter(isDefined) };

    expect(at('2026-03-10T11:30:00Z', tow).ok).toBe(false);
  });

  test('may come after the hour the invoice was asked for, which is no fact of the field', () => {
    const tow = { ...started.tow, facts: [...started.tow.facts, fact('invoice', '2026-03-10T10:30:00Z')] };

    expect(at('2026-03-10T10:40:00Z', tow).ok).toBe(true);
  });
});

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
