import type { StoredTow } from '../../src/domain/outbox/outbox-record';
import { decodeTow } from '../../src/store/tow/tow-fields';

/** A tow without stored fields. */
export function absentTow(ref: string): StoredTow {
  return decodeTow(ref, {});
}
