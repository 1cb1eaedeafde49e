import { isRecentSlot, withCalls, withMessages } from '../../src/domain/service/seen-service';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/timestamp';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const LATER = NOW + HOUR_MS;
const SLOT = NOW / (10 * MINUTE_MS);

test('adds the fields of messages and keeps when each was first seen', () => {
  const first = withMessages(null, { samples: 2, fields: { 'code string': 2 } }, NOW);
  const both = withMessages(first, { samples: 1, fields: { 'code string': 1, 'data object': 1 } }, LATER);
  expect(both).toEqual({
    samples: 3,
    first: NOW,
    last: LATER,
    fields: {
      'code string': { count: 3, first: NOW, last: LATER },
      'data object': { count: 1, first: LATER, last: LATER },
    },
  });
});

test('counts known fields of a message that already has as many fields as are kept, and no new ones', () => {
  const names = Array.from({ length: 120 }, (_, at) => `data.f${at} string`);
  const full = withMessages(null, { samples: 1, fields: Object.fromEntries(names.map((name) => [name, 1])) }, NOW);
  const { fields } = withMessages(full, { samples: 1, fields: { 'data.new string': 1, 'data.f7 string': 1 } }, NOW);
  expect(Object.keys(fields)).toEqual(names);
  expect(fields['data.f7 string']?.count).toBe(2);
});

test('adds calls to those of the same ten minutes and leaves out those that are older than an hour', () => {
  const calls = { statuses: { '200': 1 }, steps: { '3': 1 } };
  const known = { [SLOT]: calls, [SLOT - 6]: calls, [SLOT - 7]: calls };
  const more = { statuses: { '200': 1, none: 1 }, steps: { '3': 1, '9': 1 } };
  expect(withCalls(known, more, NOW)).toEqual({
    [SLOT]: { statuses: { '200': 2, none: 1 }, steps: { '3': 2, '9': 1 } },
    [SLOT - 6]: calls,
  });
  expect([SLOT - 6, SLOT - 7].map((slot) => isRecentSlot(String(slot), NOW))).toEqual([true, false]);
});

test('keeps what a later version stored beside the counts', () => {
  const known = {
    samples: 1,
    first: NOW,
    last: NOW,
    fields: { 'a string': { count: 1, first: NOW, last: NOW, b: 1 } },
  };
  const { fields } = withMessages(known, { samples: 1, fields: { 'a string': 1 } }, NOW);
  expect(fields['a string']).toEqual({ count: 2, first: NOW, last: NOW, b: 1 });
});
