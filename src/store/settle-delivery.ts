import type { StoredTow } from '../domain/outbox-record';
import { KEYS } from './keys';
import type { Transaction } from './transaction';

/**
 * Notes what a delivery came to, in the commit of its effect. False, and nothing is changed, when another worker had settled it
 * before.
 */
export async function settleDelivery(
  transaction: Transaction,
  record: StoredTow,
  id: string,
  verdict: string,
): Promise<boolean> {
  const delivery = await transaction.delivery(id);
  if (!delivery || delivery.state === 'processed') {
    transaction.effect(['ZREM', KEYS.dueDeliveries, id]);
    return false;
  }
  const at = String(transaction.nowMs);
  transaction.changeDelivery(id, { state: 'processed', verdict, processed_at: at, failures: '0' });
  transaction.effect(['ZREM', KEYS.dueDeliveries, id], ['ZADD', KEYS.retireDeliveries, at, id]);
  transaction.publish('delivery.processed', { towingReferenceId: null });
  delete record.tasks[`delivery_failing-${id}.${record.ref}`];
  return true;
}
