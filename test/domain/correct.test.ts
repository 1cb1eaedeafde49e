import { advance } from '../../src/domain/tow/facts';
import { correct, type Correction } from '../../src/domain/outbox/decide-report';
import type { Owed } from '../../src/domain/tow/report-bodies';
import type { Tow } from '../../src/domain/tow/tow';
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
  return correct(deepFreeze(tow), deepFreeze(corrected), deepFreeze({ fields, rules, clockMs: nowMs, reports }));
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

describe('corrections', () => {
  test.each(CORRECTABLE)(
    'a correction of %s changes only the named fields and keeps their order',
    (_kind, { tow, owed }, fields) => {
      const { body } = corrected(tow, owed, fields);

      expect(body).toEqual({ ...owed.body, ...fields });
      expect(Object.keys(body)).toEqual(Object.keys(owed.body));
    },
  );

  test.each(CORRECTABLE)(
    'a correction of %s keeps the old and new value of every field',
    (_kind, { tow, owed }, given) => {
      const { fields } = corrected(tow, owed, given);

      expect(Object.keys(fields)).toEqual(Object.keys(given));
      for (const [name, value] of Object.entries<string | number>(given)) {
        expect(fields[name]).toEqual({ old: owed.body[name], new: value });
      }
    },
  );

  test.each(CORRECTABLE)('a correction of %s never changes a reference', (_kind, { tow, owed }, fields) => {
    for (const name of ['towing_reference_id', 'violation_reference_id']) {
      expect(refusalOf(ask(tow, owed, { ...fields, [name]: 'TW-other' })).details).toEqual([
        { field: name, rule: 'cannot be corrected' },
      ]);
    }
  });

  test.each(CORRECTABLE)('a correction of %s that names no field is refused', (_kind, { tow, owed }) => {
    expect(refusalOf(ask(tow, owed, {})).details.map(({ field }) => field)).toEqual(['body']);
    expect(refusalOf(ask(tow, owed, { plate_number: undefined })).kind).toBe('invalid');
  });

  test.each(['detained', 'released'] as const)('a report of %s has nothing to correct', (event) => {
    const { tow, owed } = recorded(advance(towAs('started'), COMMANDS[event], context()));

    expect(refusalOf(ask(tow, owed, {})).details).toEqual([{ field: 'body', rule: 'has nothing to correct' }]);
    expect(refusalOf(ask(tow, owed, { plate_number: 'X' })).kind).toBe('invalid');
  });

  test('a correction with fields of other reports is refused and names each of them', () => {
    const fields = { plate_number: 'X', payment_status: 'PAID', delay_in_days: 1 };

    expect(refusalOf(ask(invoice.tow, invoice.owed, fields)).details.map(({ field }) => field)).toEqual([
      'plate_number',
      'payment_status',
    ]);
  });

  test('a correction to a value that is not configured is refused by field', () => {
    expect(refusalOf(ask(invoice.tow, invoice.owed, { vehicle_type: 'BIKE' })).details).toEqual([
      { field: 'vehicle_type', rule: 'must be one of HEAVY, LIGHT' },
    ]);
    const payment = paid('PARTIAL');
    expect(refusalOf(ask(payment.tow, payment.owed, { payment_status: 'paid' })).details).toEqual([
      { field: 'payment_status', rule: 'must be one of PARTIAL, LATER, PAID' },
    ]);
  });

  test('a correction to a payment status that another payment has is refused, as each status is reported once', () => {
    const partly = paid('PARTIAL');
    const { tow } = paid('PAID', partly.tow);

    expect(refusalOf(ask(tow, partly.owed, { payment_status: 'PAID' })).kind).toMatch(/^(conflict|invalid)$/);
  });

  test('a correction of a payment compares it only with payments that were not taken back and changes no other', () => {
    const first = paid('PAID').tow;
    const tow: Tow = { ...first, payments: [...first.payments, { paymentStatus: 'PARTIAL', externalReference: null }] };
    const body = { towing_reference_id: tow.towingReferenceId, payment_status: 'PARTIAL' };
    const decision = correct(
      tow,
      { id: 'payment-1', kind: 'payment', body },
      { fields: { payment_status: 'PAID' }, rules, clockMs: nowMs, reports: paymentReports(tow, [0]) },
    );
    expect(decision.ok && decision.tow.payments.map(({ paymentStatus }) => paymentStatus)).toEqual(['PAID', 'PAID']);
  });

  test('a correction of one of two payments with the same status leaves the waived one unchanged', () => {
    const first = paid('PAID').tow;
    const tow: Tow = { ...first, payments: [...first.payments, ...first.payments] };
    const body = { towing_reference_id: tow.towingReferenceId, payment_status: 'PAID' };
    const decision = correct(
      tow,
      { id: 'payment-1', kind: 'payment', body },
      { fields: { payment_status: 'PARTIAL' }, rules, clockMs: nowMs, reports: paymentReports(tow, [0]) },
    );
    expect(decision.ok && decision.tow.payments.map(({ paymentStatus }) => paymentStatus)).toEqual(['PAID', 'PARTIAL']);
  });

  test('a correction to PAID is refused for a payment that has a later one, as nothing is reported after PAID', () => {
    const partly = paid('PARTIAL');
    const { tow } = paid('LATER', partly.tow);

    expect(refusalOf(ask(tow, partly.owed, { payment_status: 'PAID' })).kind).toMatch(/^(conflict|invalid)$/);
  });
});

describe('a tow after a correction', () => {
  test('a correction of a start updates plate and place of the tow', () => {
    const { tow } = corrected(started.tow, started.owed, { plate_number: 'XYZ 9', latitude: 1.5 });

    expect(tow).toMatchObject({ plateNumber: 'XYZ 9', latitude: 1.5, towedLocation: 'King Fahd Road 12' });
    expect(tow.facts).toEqual(started.tow.facts);
  });

  test('a correction updates the cancellation reason, invoice request or payment of the tow', () => {
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

describe('corrections of the time of a start', () => {
  const at = (status_update_time: string, tow: Tow = started.tow) => ask(tow, started.owed, { status_update_time });
  const detained = towAs('detained');

  test('a corrected start time is sent verbatim in UTC and as Z with another offset, and the fact follows', () => {
    const verbatim = corrected(started.tow, started.owed, { status_update_time: '2026-03-10T09:00:00Z' });
    const converted = corrected(started.tow, started.owed, { status_update_time: '2026-03-10T12:00:00+03:00' });

    expect(verbatim.body['status_update_time']).toBe('2026-03-10T09:00:00Z');
    expect(converted.body['status_update_time']).toBe('2026-03-10T09:00:00Z');
    expect(converted.tow.facts[0]).toMatchObject({ occurredAt: '2026-03-10T09:00:00Z' });
  });

  test('a corrected start time with another offset is shown as it is sent', () => {
    const { fields } = corrected(started.tow, started.owed, { status_update_time: '2026-03-10T12:00:00+03:00' });

    expect(fields).toMatchObject({ status_update_time: { new: '2026-03-10T09:00:00Z' } });
  });

  test.each(['noon', '2026-03-10T12:02:00.001Z'])(
    'an invalid corrected start time is refused under its wire name: %s',
    (time) => {
      expect(refusalOf(at(time)).details.map(({ field }) => field)).toEqual(['status_update_time']);
    },
  );

  test('a corrected start time may equal the time of the next fact but not exceed it', () => {
    expect(at('2026-03-10T11:00:00Z', detained).ok).toBe(true);
    expect(refusalOf(at('2026-03-10T11:00:00.001Z', detained)).details.map(({ field }) => field)).toEqual([
      'status_update_time',
    ]);
  });

  test('a corrected start time may not exceed the next field fact, also with an invoice request in between', () => {
    const [start, arrival] = detained.facts;
    const tow = { ...detained, facts: [start, fact('invoice', '2026-03-10T11:50:00Z'), arrival].filter(isDefined) };

    expect(at('2026-03-10T11:30:00Z', tow).ok).toBe(false);
  });

  test('a corrected start time may exceed the time of the invoice request, which is no field fact', () => {
    const tow = { ...started.tow, facts: [...started.tow.facts, fact('invoice', '2026-03-10T10:30:00Z')] };

    expect(at('2026-03-10T10:40:00Z', tow).ok).toBe(true);
  });
});

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}
