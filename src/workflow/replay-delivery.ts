import { auditOf, type Actor } from '../domain/audit';
import { replayDelivery as replay } from '../domain/delivery';
import { unknown } from '../domain/refusal';
import { done, refused, type Effect } from './effect';
import type { Wake } from './ports';
import { deliveryDetailOf, type DeliveryDetail } from './tow-view';
import { transactOnce } from './transact-once';
import { lineOfDelivery, type RecordStore, type Remember } from './transaction-port';

export interface ReplayRequest {
  readonly id: string;
  readonly actor: Actor;
  readonly remember: Remember | undefined;
}

const noSuchDelivery = unknown('delivery_not_found', 'There is no such delivery.').refusal;

/** Makes a delivery due again, processed or not, or refuses when there is none. */
export async function replayDelivery(
  { records, wake }: { records: RecordStore; wake: Wake },
  { id, actor, remember }: ReplayRequest,
): Promise<Effect<DeliveryDetail>> {
  const effect = await transactOnce(records, { line: lineOfDelivery(id), remember }, async (transaction) => {
    const delivery = await transaction.delivery(id);
    if (!delivery) return refused(noSuchDelivery);
    replay(delivery);
    transaction.scheduleDelivery(id, transaction.nowMs);
    const on = { delivery_id: id, towing_reference_id: delivery.towingReferenceId };
    transaction.audit(auditOf(actor, 'delivery.replayed', { on }));
    return done(deliveryDetailOf(delivery));
  });
  if (effect.kind === 'done') wake.delivery(id);
  return effect;
}
