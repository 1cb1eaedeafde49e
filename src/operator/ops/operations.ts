import { ENTRY_KINDS } from '../../domain/vocabulary';
import { ROUTES } from '../../contracts/operator-routes';
import { WEBHOOK_READERS } from '../../contracts/webhook/read-webhook';
import type { Delivery } from '../../domain/webhook/delivery';
import { unknown } from '../../domain/refusal';
import { conservationViewOf } from '../../workflow/ops/conservation';
import { refused, type ActionResult } from '../../workflow/action-result';
import type { Page } from '../../workflow/list-port';
import { replayDelivery, resumeOperation } from '../../workflow/ops/ops-actions';
import { deliveryDetailOf, deliveryViewOf } from '../../workflow/tow/views';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import { differenceViewOf, expectDifference } from '../../workflow/service/differences';
import { readServiceView } from '../../workflow/service/service-view';
import { listAlarms, readNotifications, sendTestNotice } from '../../workflow/ops/notifications';

/** Webhook deliveries, what blocks sending, the service as it was seen, alarms, the conservation check and the audit. */
export function serveOperations(server: ApiServer, tools: OperatorTools): void {
  serveDeliveries(server, tools);
  serveSending(server, tools);
  serveDifferences(server, tools);
  serveNotifications(server, tools);
  const { audit, conservation } = tools;
  server.read(ROUTES.readConservation, async () => conservationViewOf(await conservation.lastScan()));
  server.list(ROUTES.listAudit, async ({ query }) => {
    const page = await audit.list({
      cursor: query.cursor ?? null,
      limit: query.limit,
      towingReferenceId: query.towing_reference_id ?? null,
    });
    return { items: page.items, next_cursor: page.nextCursor };
  });
}

function serveDeliveries(server: ApiServer, tools: OperatorTools): void {
  const { deliveries, refusedCalls } = tools;
  server.list(ROUTES.listDeliveries, async ({ query }) => {
    const { cursor = null, limit, difference_id: differenceId } = query;
    const isDiffering = differenceId !== undefined || query.differing === 'true';
    if (!isDiffering) return listed(await deliveries.list({ cursor, limit }));
    const kinds = differenceId === undefined ? (await tools.differences.all()).map(({ id }) => id) : [differenceId];
    return listed(await deliveries.list({ cursor, limit, differing: kinds }));
  });
  server.read(ROUTES.listOtherCalls, async ({ query }) => ({ items: await deliveries.others(query.limit) }));
  server.read(ROUTES.listRefusedCalls, async ({ query }) => ({ items: await refusedCalls.list(query.limit) }));
  server.read(ROUTES.readDelivery, async ({ params }) => {
    const delivery = await deliveries.read(params('delivery_id'));
    return delivery && deliveryDetailOf(delivery, WEBHOOK_READERS);
  });
  const replaying = { records: tools.records, readers: WEBHOOK_READERS };
  server.change(ROUTES.replayDelivery, ({ params, actor }) => ({
    effect: (idempotency) => replayDelivery(replaying, { id: params('delivery_id'), actor, idempotency }),
  }));
}

function listed({ items, nextCursor }: Page<Delivery>) {
  return { items: items.map(deliveryViewOf), next_cursor: nextCursor };
}

const OPERATION_NOT_FOUND = unknown(
  'operation_not_found',
  `There is no such operation. Operations are ${ENTRY_KINDS.join(', ')}.`,
).refusal;

function serveSending(server: ApiServer, tools: OperatorTools): void {
  const { sending } = tools;
  server.read(ROUTES.readSending, () => sending.read());
  server.change(ROUTES.resumeOperation, ({ params, actor, body }) => ({
    effect: (idempotency): Promise<ActionResult> => {
      const operation = ENTRY_KINDS.find((kind) => kind === params('operation'));
      if (!operation) return Promise.resolve(refused(OPERATION_NOT_FOUND));
      return resumeOperation(tools, { operation, reason: body.reason, actor, idempotency });
    },
    answer: () => sending.read(),
  }));
}

/** The service as it was seen, and how its messages differ from its document. */
function serveDifferences(server: ApiServer, tools: OperatorTools): void {
  const { differences } = tools;
  server.read(ROUTES.readService, () => readServiceView(tools));
  server.read(ROUTES.listDifferences, async () => ({ items: (await differences.all()).map(differenceViewOf) }));
  server.change(ROUTES.expectDifference, ({ params, body, actor }) => ({
    effect: (idempotency) =>
      expectDifference(tools, { id: params('difference_id'), reason: body.reason, actor, idempotency }),
  }));
}

/** Alarms and notifications. A test notice is sent by this process, the others by the process that watches. */
function serveNotifications(server: ApiServer, { notifications: tools, clock }: OperatorTools): void {
  server.read(ROUTES.listAlarms, () => listAlarms(tools));
  server.read(ROUTES.readNotifications, () => readNotifications(tools));
  server.ask(ROUTES.testNotifications, async ({ body: { channel }, actor }) => {
    const { kind, problem } = await sendTestNotice(tools, { channel, id: clock.id(), nowMs: clock.nowMs(), actor });
    return { answer: { delivered: kind === 'delivered', problem } };
  });
}
