import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/timestamp';
import { minuteToCount, outdatedHours, webhookSilence } from '../../src/domain/webhook/webhook-silence';

/** A whole hour. */
const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const INTERVALS = 10;

/** Accepted webhooks of so many days: a number of minutes in each hour for which `perHour` returns one. */
function history(days: number, perHour: (hourOfDay: number, daysAgo: number) => number, lastAcceptedAtMs: number) {
  const minutesOfHour = new Map<number, number>();
  const last = Math.floor(lastAcceptedAtMs / HOUR_MS);
  for (let hour = last - days * 24; hour <= last; hour += 1) {
    const minutes = perHour(hour % 24, Math.floor(last / 24) - Math.floor(hour / 24));
    if (minutes > 0) minutesOfHour.set(hour, minutes);
  }
  return { lastAcceptedAtMs, minutesOfHour };
}

/** A webhook every two minutes by day, none at night. */
const byDay = (hourOfDay: number) => (hourOfDay >= 6 && hourOfDay < 18 ? 30 : 0);

test('raises the alarm after so many of the intervals that are usual at these hours', () => {
  const at = (silenceMs: number) => webhookSilence(history(3, byDay, NOW - silenceMs), INTERVALS, NOW);
  expect(at(19 * MINUTE_MS)).toBeNull();
  expect(at(20 * MINUTE_MS)).toEqual({ sinceMs: NOW - 20 * MINUTE_MS, usualMs: 2 * MINUTE_MS });
});

test('names a usual interval of whole milliseconds, however the parts of hours add up', () => {
  const everyMinute = history(3, () => 60, NOW);
  const usual = Array.from({ length: 1000 }, (_, step) => {
    const lastAcceptedAtMs = NOW - 3 * HOUR_MS + step * 1237;
    return webhookSilence({ ...everyMinute, lastAcceptedAtMs }, INTERVALS, NOW + step)?.usualMs;
  });
  expect(new Set(usual)).toEqual(new Set([MINUTE_MS]));
});

test('raises no alarm in a night that is as quiet as the ones before', () => {
  const evening = Date.parse('2026-11-20T17:55:00.000Z');
  const known = history(3, byDay, evening);
  expect(webhookSilence(known, INTERVALS, evening + 12 * HOUR_MS)).toBeNull();
  expect(webhookSilence(known, INTERVALS, evening + 13 * HOUR_MS)).not.toBeNull();
});

test('raises no alarm on a weekend, because the quiet days of the last week count', () => {
  const weekend = [7, 6];
  const known = history(8, (hour, daysAgo) => (weekend.includes(daysAgo) ? 0 : byDay(hour)), NOW);
  expect(webhookSilence(known, INTERVALS, NOW + 5 * HOUR_MS)).toBeNull();
});

test('raises the alarm although one day of the last week was silent, too', () => {
  const known = history(8, (hour, daysAgo) => (daysAgo === 3 ? 0 : byDay(hour)), NOW);
  expect(webhookSilence(known, INTERVALS, NOW + HOUR_MS)).not.toBeNull();
});

test('raises no alarm without a whole day of history, without any webhook, and with the setting 0', () => {
  const later = NOW + 2 * HOUR_MS;
  const firstDay = history(0, () => 30, NOW);
  expect(webhookSilence(firstDay, INTERVALS, later)).toBeNull();
  expect(webhookSilence({ lastAcceptedAtMs: null, minutesOfHour: new Map() }, INTERVALS, later)).toBeNull();
  expect(webhookSilence(history(3, byDay, NOW), 0, later)).toBeNull();
});

test('keeps the alarm for as long as the silence lasts', () => {
  expect(webhookSilence(history(3, byDay, NOW), INTERVALS, NOW + 30 * DAY_MS)).toMatchObject({ sinceMs: NOW });
});

test('counts a minute once, also in a process whose clock is a moment behind, and again after clocks were set back', () => {
  const minute = NOW / MINUTE_MS;
  expect(minuteToCount(null, NOW)).toBe(minute);
  expect(minuteToCount(minute - 1, NOW)).toBe(minute);
  expect(minuteToCount(minute, NOW + MINUTE_MS - 1)).toBeNull();
  expect(minuteToCount(minute, NOW - 1)).toBeNull();
  expect(minuteToCount(minute + 2, NOW)).toBe(minute);
});

test('names the hours before the compared days and the day of the silence as outdated', () => {
  const hour = NOW / HOUR_MS;
  const days = 9;
  expect(outdatedHours([hour, hour - days * 24 + 1, hour - days * 24], NOW)).toEqual([hour - days * 24]);
});
