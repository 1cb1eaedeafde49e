import { riyadhDate } from '../../src/domain/timestamp';
import { eventually } from './eventually';

/** More than a test takes on a busy machine. */
const MARGIN_MS = 60_000;

/**
 * Waits for the next day in Riyadh if it is less than a minute ahead. A new day gives the archive another file, and an
 * invoice another day of delay.
 */
export const awayFromMidnight = () =>
  eventually(() => expect(riyadhDate(Date.now() + MARGIN_MS)).toBe(riyadhDate(Date.now())), MARGIN_MS + 10_000);
