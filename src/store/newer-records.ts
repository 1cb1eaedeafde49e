import { NewerRecord, OLDEST_READER_FIELD, UnusableRecord } from '../domain/newer-record';
import type { Fields } from './record-parts';
import { knownSchema } from './schema';

/** Records that a later version of towhook has marked as unusable for this one. */

const KNOWN = knownSchema().version;

/** Whether the marker of a record excludes this version. */
export function isNewer(oldestReader: string): boolean {
  return Number(oldestReader) > KNOWN;
}

/** @throws NewerRecord if the record needs a later version. Called before anything else of a record is read. */
export function refuseNewer(fields: Fields): void {
  const oldestReader = fields[OLDEST_READER_FIELD];
  if (oldestReader !== undefined && isNewer(oldestReader)) throw new NewerRecord(Number(oldestReader), KNOWN);
}

/** For lists: null in place of a record that this process cannot use. */
export async function unlessNewer<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (error instanceof UnusableRecord) return null;
    throw error;
  });
}
