import type { Entry } from './entry';
import type { StoredTow } from './outbox-record';

/**
 * True when an invoice webhook that came after the first create was sent proves that the create worked. The first create takes
 * away the mark of any webhook before it, in a commit on the version that the webhook raises: no clock decides what came first.
 */
export function isProvedByInvoice(record: StoredTow, entry: Entry): boolean {
  if (entry.kind !== 'invoice' || entry.firstSentAtMs === null || record.proofAtMs === null) return false;
  // What the service refused outright made nothing; refused after an unanswered try, the try may have.
  const mayExist = entry.state !== 'refused' || entry.possibleEffects > 0;
  return mayExist;
}
