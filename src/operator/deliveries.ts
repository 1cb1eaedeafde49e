import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { unknown } from '../domain/refusal';
import type { DeliveryStore, Wake } from '../workflow/ports';
import { effectOf, type Effect } from '../workflow/effect';
import { deliveryViewOf } from '../workflow/tow-view';
import type { Server } from './serve';

const noSuchDelivery = {
  kind: 'refused',
  refusal: unknown('delivery_not_found', 'There is no such delivery.').refusal,
} as const;

/** Webhook deliveries: what came, what became of it, and once more from the start. */
export function serveDeliveries(server: Server, tools: { deliveries: DeliveryStore; wake: Wake }): void {
  const { deliveries, wake } = tools;
  const detail = async (id: string) => {
    const delivery = await deliveries.read(id);
    if (!delivery) return null;
    return { ...deliveryViewOf(delivery), raw_body: delivery.rawBody };
  };
  server.read(ROUTES.listDeliveries, async ({ query }) => {
    if (query.quarantined === 'true') return { items: await deliveries.quarantined(query.limit), next_cursor: null };
    const page = await deliveries.list({ cursor: query.cursor ?? null, limit: query.limit });
    return { items: page.items.map(deliveryViewOf), next_cursor: page.nextCursor };
  });
  server.read(ROUTES.readDelivery, ({ params }) => detail(params('delivery_id')));
  server.change(ROUTES.replayDelivery, ({ params, actor }) => {
    const id = params('delivery_id');
    return {
      effect: async (remember): Promise<Effect> => {
        const delivery = await deliveries.read(id);
        if (!delivery) return noSuchDelivery;
        const on = { delivery_id: id, towing_reference_id: delivery.towingReferenceId };
        const audit = auditOf(actor, 'delivery.replayed', { on });
        const effect = effectOf(await deliveries.replay(id, { audit, remember }));
        if (effect === 'stale' || effect === null) return noSuchDelivery;
        if (effect.kind === 'done') wake.delivery(id);
        return effect;
      },
      answer: () => detail(id),
    };
  });
}
