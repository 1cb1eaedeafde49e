import { knownViolation } from '../../src/contracts/violation/known-violations';
import { violationCorrection, violationImagesInput } from '../../src/contracts/violation/violation-input';
import { timestampMs } from '../../src/domain/timestamp';

const KNOWN = { metadata_id: 'case-1', plateNumber: 'ABJ 1235', location: 'Gate 4', latitude: 24.7, longitude: 46.7 };

/** The date as each contract that takes one returns it; null where it is refused. */
function taken(date: string): (string | null | undefined)[] {
  const form = violationImagesInput.safeParse({ date });
  const correction = violationCorrection.safeParse({ date });
  const known = knownViolation.safeParse({ ...KNOWN, date });
  return [form, correction, known].map(({ data }) => (data ? data.date : null));
}

test.each([
  ['2026-11-27T09:00:00Z', '2026-11-27T09:00:00Z'],
  ['2026-11-27T09:00:00.25+03:00', '2026-11-27T09:00:00.25+03:00'],
  ['2026-11-27T09:00:00+0300', '2026-11-27T09:00:00+03:00'],
  ['2026-11-27T09:00:00,25-0330', '2026-11-27T09:00:00.25-03:30'],
  ['2026-11-27T06:00Z', '2026-11-27T06:00:00Z'],
  ['2026-11-27T09:00+0300', '2026-11-27T09:00:00+03:00'],
])('a violation takes the unambiguous time %s, which a fact takes, and sends %s', (date, sent) => {
  expect(timestampMs(date)).not.toBeNull();
  expect(taken(date)).toEqual([sent, sent, sent]);
  expect(timestampMs(sent)).toBe(timestampMs(date));
});

test.each(['2026-11-27T09:00', '2026-11-27T09:00:00', '2026-11-27T09:00:00.5'])(
  'a violation takes the time without offset %s, and sends it unchanged',
  (date) => {
    expect(taken(date)).toEqual([date, date, date]);
  },
);

test.each(['2026-11-27', '2026-11-27 09:00:00Z', '2026-02-30T09:00:00Z', '2026-11-27T09:00:00+99:00', '27/11/2026'])(
  'a violation refuses the time %s',
  (date) => {
    expect(taken(date)).toEqual([null, null, null]);
  },
);
