import { ageOf, overdueOf, unsettledSinceMs, stateSinceMs } from '../../src/domain/outbox/overdue';
import type { Tow } from '../../src/domain/tow/tow';
import { TOW_STATES, type ReportState } from '../../src/domain/vocabulary';
import { fact, minutesFromNow, nowMs, towAs } from './tows';

const MINUTE_MS = 60_000;
const AFTER = { requestedMs: 45 * MINUTE_MS, startedMs: 240 * MINUTE_MS, reportMs: 15 * MINUTE_MS };

const requestedAgo = (minutes: number): Tow => ({ ...towAs('requested'), requestedAt: minutesFromNow(-minutes) });
const startedAgo = (minutes: number): Tow => ({
  ...towAs('started'),
  facts: [fact('started', minutesFromNow(-minutes))],
});
const owed = (state: ReportState, minutesAgo: number) => ({ state, createdAtMs: nowMs - minutesAgo * MINUTE_MS });
const marksOf = (tow: Tow, entries: Parameters<typeof overdueOf>[0]['entries'] = []) =>
  overdueOf({ tow, entries, withheld: null }, AFTER, nowMs).map(({ what }) => what);

describe('overdueOf', () => {
  test('overdueOf marks a requested tow that has not been started within its limit', () => {
    expect([44, 45].map((minutes) => marksOf(requestedAgo(minutes)))).toEqual([[], []]);
    expect(overdueOf({ tow: requestedAgo(46), entries: [], withheld: null }, AFTER, nowMs)).toEqual([
      { what: 'requested', sinceMs: nowMs - 46 * MINUTE_MS },
    ]);
  });

  test('overdueOf marks a started tow that has exceeded its limit', () => {
    expect([marksOf(startedAgo(240)), marksOf(startedAgo(241))]).toEqual([[], ['started']]);
  });

  test('overdueOf marks a tow with a report that is unsettled beyond its limit, for any reason', () => {
    for (const state of ['pending', 'sending', 'unknown', 'refused'] as const) {
      expect(marksOf(startedAgo(20), [owed(state, 15)])).toEqual([]);
      expect(marksOf(startedAgo(20), [owed(state, 16)])).toEqual(['report']);
    }
    for (const state of ['accepted', 'waived'] as const) {
      expect(marksOf(startedAgo(20), [owed(state, 16)])).toEqual([]);
    }
  });

  test('overdueOf lists every reason, also for a finished tow with an unsettled report', () => {
    expect(marksOf(startedAgo(300), [owed('accepted', 300), owed('refused', 20)])).toEqual(['started', 'report']);
    expect(marksOf(towAs('released'), [owed('pending', 20)])).toEqual(['report']);
  });

  test('overdueOf never marks a tow where the limit is 0', () => {
    const never = { requestedMs: 0, startedMs: 0, reportMs: 0 };
    for (const tow of [requestedAgo(9999), startedAgo(9999)]) {
      expect(overdueOf({ tow, entries: [owed('refused', 9999)], withheld: null }, never, nowMs)).toEqual([]);
    }
  });

  test('overdueOf marks a tow by its state alone only when it is requested or started', () => {
    for (const state of ['detained', 'released', 'canceled'] as const) expect(marksOf(towAs(state))).toEqual([]);
  });
});

test('the age of a tow is measured from the fact that led to its state', () => {
  const since = TOW_STATES.map((state) => [state, stateSinceMs(towAs(state))]);

  expect(since).toEqual([
    ['requested', Date.parse('2026-03-10T08:00:00Z')],
    ['started', Date.parse('2026-03-10T10:00:00Z')],
    ['detained', Date.parse('2026-03-10T11:00:00Z')],
    ['released', Date.parse('2026-03-10T11:30:00Z')],
    ['canceled', Date.parse('2026-03-10T09:30:00Z')],
  ]);
  expect(ageOf(towAs('started'), nowMs)).toEqual({ sinceMs: Date.parse('2026-03-10T10:00:00Z'), ageMs: 7_200_000 });
});

test('the age of a tow is never negative, and 0 without a readable timestamp', () => {
  expect(ageOf(startedAgo(-1), nowMs).ageMs).toBe(0);
  expect(ageOf({ ...towAs('requested'), requestedAt: 'some day' }, nowMs)).toEqual({ sinceMs: nowMs, ageMs: 0 });
});

test('unsettledSinceMs returns the creation time of the oldest unsettled report', () => {
  const reports = [owed('accepted', 9), owed('waived', 8), owed('refused', 7), owed('pending', 6)];

  expect(unsettledSinceMs({ entries: reports, withheld: null })).toBe(nowMs - 7 * MINUTE_MS);
  expect(unsettledSinceMs({ entries: [owed('accepted', 9)], withheld: null })).toBeNull();
});

test('unsettledSinceMs returns null while the tow is held since a shadow time', () => {
  expect(unsettledSinceMs({ entries: [owed('pending', 9)], withheld: 'held' })).toBeNull();
});
