import { formatsOf } from '../../src/console/formats';
import { mailTextIn } from '../../src/console/parts/alarm-text';
import { startNotice } from '../support/notifications';

/** Five minutes after midnight in Riyadh. */
const AFTER_MIDNIGHT = '2026-11-20T21:05:00.000Z';

test('a fraction after a comma, which a fact may have, is read as one after a point', () => {
  const formats = formatsOf('en', Date.parse(AFTER_MIDNIGHT));
  expect(formats.timestamp('2026-11-20T21:05:00,5Z')).toBe('21 Nov, 00:05');
  expect(formats.clockTime('2026-11-21T00:05:00,25+0300')).toBe('00:05:00.250');
  expect(formats.timestamp('2026-11-20, 21:05,5')).toBe('2026-11-20, 21:05,5');
});

test.each([
  ['en', '21 Nov, 00:05'],
  ['ar', '21 نوفمبر، 00:05'],
] as const)('the hour after midnight is 00 in "%s"', (language, timestamp) => {
  const atMs = Date.parse(AFTER_MIDNIGHT);
  const formats = formatsOf(language, atMs);
  expect(formats.timestamp(AFTER_MIDNIGHT)).toBe(timestamp);
  expect(formats.clockTime(AFTER_MIDNIGHT)).toBe('00:05:00.000');
  const { alarm } = startNotice();
  const notice = startNotice({ alarm: alarm && { ...alarm, seenAtMs: atMs }, createdAtMs: atMs });
  expect(mailTextIn(notice, { language, consoleUrl: null }).text).toContain(timestamp);
});
