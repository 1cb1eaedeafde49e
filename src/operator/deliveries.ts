import { ROUTES } from '../contracts/operator-routes';
import type { DeliveryStore, Wake } from '../workflow/ports';
import { replayDelivery } from '../workflow/replay-delivery';
import { deliveryDetailOf, deliveryViewOf } from '../workflow/tow-view';
import type { RecordStore } from '../workflow/transaction-port';
import type { Server } from './serve';

/** Webhook deliveries: what came, what became of it, and once more from the start. */
export function serveDeliveries(
  server: Server,
  tools: { deliveries: DeliveryStore; records: RecordStore; wake: Wake },
): void {
  const { deliveries } = tools;
  server.read(ROUTES.listDeliveries, async ({ query }) => {
    if (query.quarantined === 'true') return { items: await deliveries.quarantined(query.limit), next_cursor: null };
    const page = await deliveries.list({ cursor: query.cursor ?? null, limit: query.limit });
    return { items: page.items.map(deliveryViewOf), next_cursor: page.nextCursor };
  });
  server.read(ROUTES.readDelivery, async ({ params }) => {
    const delivery = await deliveries.read(params('delivery_id'));
    return delivery && deliveryDetailOf(delivery);
  });
  server.change(ROUTES.replayDelivery, ({ params, actor }) => ({
    effect: (remember) => replayDelivery(tools, { id: params('delivery_id'), actor, remember }),
  }));
}
