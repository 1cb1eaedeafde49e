import { advance } from '../../src/domain/tow/facts';
import type { Tow } from '../../src/domain/tow/tow';
import { COMMANDS, context, minutesFromNow, NOW, recorded, refusalOf, report, towAs, WHEREABOUTS } from './tows';

const requested = towAs('requested');
/** A tow request matched with the operator's own violation. */
const matched: Tow = { ...requested, ...WHEREABOUTS, state: 'requested' };

describe('starts', () => {
  test('a start takes plate and place from the entered values', () => {
    const { tow, owed } = recorded(advance(requested, COMMANDS.started, context()));

    expect(tow).toMatchObject({ state: 'started', ...WHEREABOUTS });
    expect(owed.body).toMatchObject({ plate_number: 'ABJ 1234', towed_location: 'King Fahd Road 12' });
  });

  test('a start without entered values takes plate and place from the violation', () => {
    const { tow, owed } = recorded(advance(matched, { event: 'started' }, context()));

    expect(tow).toMatchObject({ state: 'started', ...WHEREABOUTS });
    expect(owed.body).toMatchObject({ plate_number: 'ABJ 1234', latitude: 24.7136, longitude: 46.6753 });
  });

  test('a start prefers entered values to those of the violation, field by field', () => {
    const { tow } = recorded(advance(matched, { event: 'started', towedLocation: 'Gate 3', latitude: 0 }, context()));

    expect(tow).toMatchObject({ plateNumber: 'ABJ 1234', towedLocation: 'Gate 3', latitude: 0, longitude: 46.6753 });
  });

  test('a start trims texts and treats an empty one as absent', () => {
    const given = { event: 'started', plateNumber: '  X 1  ', towedLocation: '   ' } as const;

    expect(recorded(advance(matched, given, context())).tow).toMatchObject({
      plateNumber: 'X 1',
      towedLocation: 'King Fahd Road 12',
    });
  });

  test('a start names every missing field at once', () => {
    const refusal = refusalOf(advance(requested, { event: 'started' }, context()));

    expect(refusal).toMatchObject({ kind: 'invalid', code: 'field_invalid' });
    expect(refusal.details.map(({ field }) => field)).toEqual([
      'plate_number',
      'towed_location',
      'latitude',
      'longitude',
    ]);
  });

  test('a start names every missing field and an invalid time at once', () => {
    const refusal = refusalOf(advance(requested, { event: 'started', latitude: 1, occurredAt: 'noon' }, context()));

    expect(refusal.kind).toBe('invalid');
    expect(refusal.details.map(({ field }) => field)).toEqual([
      'plate_number',
      'towed_location',
      'longitude',
      'occurred_at',
    ]);
  });

  test.each([
    ['plate_number', { plateNumber: undefined }],
    ['towed_location', { towedLocation: undefined }],
    ['latitude', { latitude: undefined }],
    ['longitude', { longitude: undefined }],
  ])('a start without %s names only that field', (field, without) => {
    const refusal = refusalOf(advance(requested, { ...COMMANDS.started, ...without }, context()));

    expect(refusal.details.map((detail) => detail.field)).toEqual([field]);
  });
});

describe('times of facts', () => {
  const startAt = (occurredAt: string | undefined) =>
    advance(requested, { ...COMMANDS.started, occurredAt }, context());

  test.each(['2026-03-10T11:59:59Z', '2026-03-10T11:00Z', '2026-03-10T11:59:59.123456Z'])(
    'the time of a fact in UTC is kept and sent verbatim: %s',
    (moment) => {
      const { tow, owed } = recorded(startAt(moment));

      expect(owed.body['status_update_time']).toBe(moment);
      expect(tow.facts).toEqual([{ event: 'started', occurredAt: moment, recordedAt: NOW, by: 'dispatch' }]);
    },
  );

  test.each([
    ['2026-03-10T14:30:00+03:00', '2026-03-10T11:30:00Z'],
    ['2026-03-10T02:30:00.5-0500', '2026-03-10T07:30:00.500Z'],
  ])('the time of a fact with another offset is converted to Z and keeps its fraction: %s', (given, sent) => {
    expect(recorded(startAt(given)).owed.body['status_update_time']).toBe(sent);
  });

  test('the time of a fact defaults to now, in whole seconds', () => {
    expect(recorded(startAt(undefined)).owed.body['status_update_time']).toBe('2026-03-10T12:00:00Z');
  });

  test('the time of a fact may be exactly 2 minutes in the future, and not a millisecond more', () => {
    expect(recorded(startAt('2026-03-10T12:02:00.000Z')).tow.state).toBe('started');
    expect(refusalOf(startAt('2026-03-10T12:02:00.001Z'))).toMatchObject({
      kind: 'invalid',
      details: [{ field: 'occurred_at', rule: 'must not be more than 2 minutes in the future' }],
    });
  });

  test('the time of a fact may precede the tow request', () => {
    expect(recorded(startAt('2026-03-09T08:00:00Z')).tow.facts[0]?.occurredAt).toBe('2026-03-09T08:00:00Z');
  });

  test.each(['detained', 'released', 'canceled'] as const)(
    'the time of the fact %s must not precede the previous fact',
    (event) => {
      const at = (occurredAt: string) => advance(towAs('started'), { ...COMMANDS[event], occurredAt }, context());

      expect(refusalOf(at('2026-03-10T09:59:59.999Z')).details.map(({ field }) => field)).toEqual(['occurred_at']);
      expect(recorded(at('2026-03-10T10:00:00Z')).tow.state).toBe(event);
    },
  );

  test('the time of a payment must not precede the previous fact', () => {
    const invoiced = recorded(advance(towAs('detained'), COMMANDS.invoice, context()));
    const reports = [report('invoice', 'accepted')];
    const paidAt = (occurredAt: string) =>
      advance(invoiced.tow, { ...COMMANDS.payment, occurredAt }, context({ reports }));

    expect(refusalOf(paidAt('2026-03-10T10:59:59Z')).code).toBe('field_invalid');
    expect(recorded(paidAt('2026-03-10T11:00:00Z')).owed.kind).toBe('payment');
  });

  test('the time of a fact is compared with the last field fact, not with the invoice request', () => {
    const invoiced = recorded(advance(towAs('started'), COMMANDS.invoice, context())).tow;
    const command = { event: 'detained', occurredAt: minutesFromNow(-30) } as const;

    expect(recorded(advance(invoiced, command, context())).tow.state).toBe('detained');
  });

  test('the default time of a fact never precedes a previous fact that is slightly ahead of our clock', () => {
    const { tow } = recorded(startAt('2026-03-10T12:01:30Z'));

    expect(recorded(advance(tow, COMMANDS.detained, context())).tow.facts[1]?.occurredAt).toBe('2026-03-10T12:01:30Z');
  });
});
