import * as fc from 'fast-check';
import { timestampMs, occurredAt, riyadhDaysBetween } from '../../src/domain/timestamp';
import { NOW, nowMs, refusalOf } from './tows';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('timestamps', () => {
  test.each([
    ['2026-03-10T12:00:00.000Z', nowMs],
    ['2026-03-10T12:00:00Z', nowMs],
    ['2026-03-10T12:00Z', nowMs],
    ['2026-03-10T15:00:00+03:00', nowMs],
    ['2026-03-10T15:00:00+0300', nowMs],
    ['2026-03-10T07:00:00-05:00', nowMs],
    ['2026-03-10T12:00:00,250Z', nowMs + 250],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ])('the timestamp %s is read', (text, ms) => {
    expect(timestampMs(text)).toBe(ms);
  });

  test.each([
    ['a date alone', '2026-03-10'],
    ['a time without an offset', '2026-03-10T12:00:00'],
    ['a day that does not exist', '2026-02-30T12:00:00Z'],
    ['29 February of a common year', '2026-02-29T12:00:00Z'],
    ['a thirteenth month', '2026-13-01T12:00:00Z'],
    ['hour 24', '2026-03-10T24:00:00Z'],
    ['minute 60', '2026-03-10T12:60:00Z'],
    ['second 60', '2026-03-10T12:00:60Z'],
    ['an offset of 99 hours', '2026-03-10T12:00:00+99:00'],
    ['a blank for the T', '2026-03-10 12:00:00Z'],
    ['milliseconds since the epoch', '1773144000000'],
    ['words', 'yesterday at noon'],
    ['something behind it', '2026-03-10T12:00:00Z, about'],
    ['nothing', ''],
  ])('the timestamp %s is rejected', (_what, text) => {
    expect(timestampMs(text)).toBeNull();
    expect(refusalOf(occurredAt(text, null, nowMs))).toMatchObject({
      kind: 'invalid',
      details: [{ field: 'occurred_at', rule: 'must be an ISO 8601 date and time with Z or an offset' }],
    });
  });

  test('timestamps with any offset are read as the same time', () => {
    const offsets = fc.integer({ min: -14 * 60, max: 14 * 60 });
    const moments = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(moments, offsets, (date, minutes) => {
        const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
        const absolute = Math.abs(minutes);
        const two = (part: number) => String(part).padStart(2, '0');
        const offset = `${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`;

        expect(timestampMs(local + offset)).toBe(date.getTime());
        const sent = occurredAt(local + offset, null, date.getTime());
        expect(sent).toEqual({ ok: true, timestamp: date.toISOString().replace('.000Z', 'Z') });
      }),
    );
  });

  test('spaces around a timestamp are trimmed', () => {
    expect(occurredAt(` ${NOW} `, null, nowMs)).toEqual({ ok: true, timestamp: NOW });
  });

  test.each([
    ['2026-03-10T12:00:00.999Z', null, '2026-03-10T12:00:00Z'],
    ['2026-03-10T12:00:00.999Z', '2026-03-10T12:00:00Z', '2026-03-10T12:00:00Z'],
    ['2026-03-10T12:00:00.999Z', '2026-03-10T12:00:00.500Z', '2026-03-10T12:00:00.500Z'],
    ['2026-03-10T12:00:00.100Z', '2026-03-10T12:00:30.001Z', '2026-03-10T12:00:30.001Z'],
  ])(
    'the time %s after %s is made as %s: whole seconds, or the previous time if that is later',
    (now, previous, made) => {
      expect(occurredAt(undefined, previous, Date.parse(now))).toEqual({ ok: true, timestamp: made });
    },
  );

  test('a time that is made is never ahead, so that the next fact may follow within the same second', () => {
    const nowMs = Date.parse('2026-03-10T12:00:00.700Z');
    const made = occurredAt(undefined, '2026-03-10T12:00:00.500Z', nowMs);
    const next = '2026-03-10T12:00:00.800Z';
    expect(made.ok && occurredAt(next, made.timestamp, nowMs + 100)).toEqual({ ok: true, timestamp: next });
  });

  test('a timestamp equal to the previous one is accepted', () => {
    expect(occurredAt(NOW, NOW, nowMs)).toEqual({ ok: true, timestamp: NOW });
  });

  test('timestamps are compared by time and not by text', () => {
    expect(occurredAt('2026-03-10T11:00:00Z', '2026-03-10T13:30:00+03:00', nowMs).ok).toBe(true);
    expect(occurredAt('2026-03-10T13:00:00+03:00', '2026-03-10T11:00:00Z', nowMs).ok).toBe(false);
  });
});

describe('riyadhDaysBetween', () => {
  const days = (from: string, to: string) => riyadhDaysBetween(Date.parse(from), Date.parse(to));

  test.each([
    ['2026-03-10T20:59:59.999Z', '2026-03-10T21:00:00.000Z', 1],
    ['2026-03-10T21:00:00.000Z', '2026-03-11T20:59:59.999Z', 0],
    ['2026-03-10T21:00:00.000Z', '2026-03-11T21:00:00.000Z', 1],
    ['2026-03-10T00:00:00.000Z', '2026-03-10T20:59:59.999Z', 0],
    ['2026-02-28T20:00:00.000Z', '2026-03-01T20:00:00.000Z', 1],
    ['2024-02-28T20:00:00.000Z', '2024-03-01T20:00:00.000Z', 2],
    ['2026-03-11T00:00:00.000Z', '2026-03-10T00:00:00.000Z', -1],
  ])('riyadhDaysBetween counts from %s to %s: %i days', (from, to, expected) => {
    expect(days(from, to)).toBe(expected);
  });

  test('riyadhDaysBetween counts the same days as the Intl calendar of Asia/Riyadh', () => {
    const calendar = new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Riyadh', dateStyle: 'short' });
    const dayNumber = (ms: number) => Date.parse(calendar.format(ms)) / DAY_MS;
    const moments = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2040, 0, 1) });
    fc.assert(
      fc.property(moments, moments, (from, to) => {
        expect(riyadhDaysBetween(from, to)).toBe(dayNumber(to) - dayNumber(from));
      }),
    );
  });
});
