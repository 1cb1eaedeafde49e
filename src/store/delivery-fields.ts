import { deliveryRecord } from '../contracts/records';
import type { Delivery } from '../domain/delivery';
import type { Effect } from './commit';
import { KEYS } from './keys';
import type { Fields } from './packed-fields';
import type { StoreChange } from './record-effects';

/** A webhook delivery as the fields of its hash, and what follows from a change of it. It is stored first by lua/accept.lua. */

/** Null when there is none. */
export function decodeDelivery(fields: Fields): Delivery | null {
  return fields['id'] === undefined ? null : deliveryRecord.parse(fields);
}

/** The fields that a decision has changed. */
export function changedFields(before: Delivery, after: Delivery): Record<string, string> {
  const was = changeable(before);
  return Object.fromEntries(Object.entries(changeable(after)).filter(([name, value]) => was[name] !== value));
}

function changeable({
  state,
  verdict,
  processedAtMs,
  parkedAtMs,
  failures,
  replays,
}: Delivery): Record<string, string> {
  return {
    state,
    verdict: verdict ?? '',
    processed_at: String(processedAtMs ?? ''),
    parked_at: String(parkedAtMs ?? ''),
    failures: String(failures),
    replays: String(replays),
  };
}

/** A settled delivery may be archived later, unless it is replayed. */
export function deliveryEffects(before: Delivery, after: Delivery): Effect[] {
  const [wasSettled, isSettled] = [before.state === 'processed', after.state === 'processed'];
  if (isSettled && !wasSettled) return [['ZADD', KEYS.retireDeliveries, after.processedAtMs ?? 0, after.id]];
  return wasSettled && !isSettled ? [['ZREM', KEYS.retireDeliveries, after.id]] : [];
}

/** What is announced when a delivery changes. */
export function deliveryEvents(before: Delivery, after: Delivery): StoreChange[] {
  if (before.state === after.state) return [];
  switch (after.state) {
    case 'processed':
      return [{ type: 'delivery.processed', towingReferenceId: null }];
    case 'parked':
      return [{ type: 'delivery.parked', towingReferenceId: after.towingReferenceId }];
    case 'waiting':
      return [];
  }
}
