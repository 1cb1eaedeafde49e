import { advance } from '../../src/domain/tow/facts';
import type { Tow } from '../../src/domain/tow/tow';
import { COMMANDS, context, fact, NOW, recorded, refusalOf, report, RULES, towAs } from './tows';

/** A tow detained at the given moment. */
function detainedAt(moment: string): Tow {
  return { ...towAs('detained'), facts: [fact('started', '2026-03-01T08:00:00Z'), fact('detained', moment)] };
}

/** The days that are invoiced for a request at `at`. */
function daysInvoiced(tow: Tow, at: string, freeDays = 0): unknown {
  const rules = { ...RULES, freeDays };
  return recorded(advance(tow, COMMANDS.invoice, context({ clockMs: Date.parse(at), rules }))).owed.body[
    'delay_in_days'
  ];
}

describe('invoice requests', () => {
  test.each(['started', 'detained'] as const)(
    'an invoice request is accepted for a tow that is %s and leaves its state unchanged',
    (state) => {
      const { tow, owed } = recorded(advance(towAs(state), COMMANDS.invoice, context()));

      expect(tow.state).toBe(state);
      expect(tow.facts.at(-1)).toEqual({ event: 'invoice', occurredAt: NOW, recordedAt: NOW, by: 'dispatch' });
      expect(owed.kind).toBe('invoice');
    },
  );

  test.each(['requested', 'released', 'canceled'] as const)(
    'an invoice request is refused for a tow that is %s',
    (state) => {
      expect(refusalOf(advance(towAs(state), COMMANDS.invoice, context()))).toMatchObject({
        kind: 'conflict',
        code: 'transition_not_allowed',
      });
    },
  );

  test('an invoice request is accepted only once, also after its report was waived', () => {
    const { tow } = recorded(advance(towAs('detained'), COMMANDS.invoice, context()));

    for (const state of ['pending', 'accepted', 'refused', 'waived'] as const) {
      const reports = [report('invoice', state)];
      expect(refusalOf(advance(tow, COMMANDS.invoice, context({ reports })))).toMatchObject({
        kind: 'conflict',
        code: 'already_recorded',
      });
    }
  });

  test('an invoice request accepts only the configured vehicle types, spelled exactly', () => {
    const rules = { ...RULES, vehicleTypes: ['HEAVY', 'LIGHT'] };
    const request = (vehicleType: string) =>
      advance(towAs('started'), { event: 'invoice', vehicleType }, context({ rules }));

    expect(recorded(request('LIGHT')).owed.body['vehicle_type']).toBe('LIGHT');
    expect(refusalOf(request('heavy')).details).toEqual([
      { field: 'vehicle_type', rule: 'must be one of HEAVY, LIGHT' },
    ]);
  });
});

describe('delay days', () => {
  test('delay days that a person enters are invoiced as entered, and the calendar days are kept beside them', () => {
    const command = { ...COMMANDS.invoice, delayInDays: 9, overrideReason: ' keys were missing ' };
    const { tow, owed } = recorded(advance(detainedAt('2026-03-08T12:00:00Z'), command, context()));

    expect(owed.body['delay_in_days']).toBe(9);
    expect(tow.invoiceRequest).toEqual({
      vehicleType: 'HEAVY',
      delayInDays: 9,
      computedDelayInDays: 2,
      overrideReason: 'keys were missing',
    });
  });

  test('delay days entered as 0 stay 0 when the calendar has more', () => {
    const command = { ...COMMANDS.invoice, delayInDays: 0 };

    expect(recorded(advance(detainedAt('2026-03-08T12:00:00Z'), command, context())).owed.body['delay_in_days']).toBe(
      0,
    );
  });

  test('delay days are 0 for a vehicle that was not detained', () => {
    const tow: Tow = { ...towAs('started'), facts: [fact('started', '2026-02-01T10:00:00Z')] };

    expect(daysInvoiced(tow, NOW)).toBe(0);
  });

  test('delay days change at midnight in Riyadh, which is 21:00 UTC', () => {
    const tow = detainedAt('2026-03-10T20:59:59Z');

    expect(daysInvoiced(tow, '2026-03-10T20:59:59.999Z')).toBe(0);
    expect(daysInvoiced(tow, '2026-03-10T21:00:00Z')).toBe(1);
    expect(daysInvoiced(tow, '2026-03-11T20:59:59.999Z')).toBe(1);
    expect(daysInvoiced(tow, '2026-03-11T21:00:00Z')).toBe(2);
  });

  test('delay days of a vehicle detained right after midnight in Riyadh start a full day later', () => {
    const tow = detainedAt('2026-03-10T21:00:00Z');

    expect(daysInvoiced(tow, '2026-03-11T20:59:59.999Z')).toBe(0);
    expect(daysInvoiced(tow, '2026-03-11T21:00:00Z')).toBe(1);
  });

  test('delay days are counted from the time of the detained fact, written with any offset', () => {
    expect(daysInvoiced(detainedAt('2026-03-10T23:59:59+03:00'), '2026-03-11T00:00:00+03:00')).toBe(1);
  });

  test('delay days are reduced by the free days and never below 0', () => {
    const tow = detainedAt('2026-03-05T12:00:00Z');

    expect(daysInvoiced(tow, NOW, 0)).toBe(5);
    expect(daysInvoiced(tow, NOW, 2)).toBe(3);
    expect(daysInvoiced(tow, NOW, 5)).toBe(0);
    expect(daysInvoiced(tow, NOW, 30)).toBe(0);
  });

  test('delay days are not below 0 when the detained fact is slightly ahead of our clock across midnight', () => {
    expect(daysInvoiced(detainedAt('2026-03-10T21:01:00Z'), '2026-03-10T20:59:30Z')).toBe(0);
  });

  test('delay days are fixed in the body on the day of the invoice request', () => {
    const tow = detainedAt('2026-03-08T12:00:00Z');
    const { tow: after, owed } = recorded(advance(tow, COMMANDS.invoice, context()));
    const later = recorded(
      advance(after, COMMANDS.canceled, context({ clockMs: Date.parse('2026-04-10T12:00:00Z'), role: 'ops' })),
    );

    expect(owed.body['delay_in_days']).toBe(2);
    expect(later.tow.invoiceRequest).toMatchObject({ delayInDays: 2, computedDelayInDays: 2 });
  });
});
