import { ROUTES } from '../contracts/operator-routes';
import type { FactCommand } from '../domain/fact-command';
import { decideReport, type DecisionCommand } from '../workflow/decisions';
import { recordFact, type Actor, type TowTools } from '../workflow/progress';
import { towViewOf } from '../workflow/tow-view';
import type { Change } from './idempotency';
import type { Server } from './serve';

type Params = (name: string) => string;

/** Tows: what people see, say and decide. */
export function serveTows(server: Server, tools: TowTools): void {
  server.read(ROUTES.readTow, async ({ params }) => {
    const record = await tools.tows.read(params('towing_reference_id'));
    return record && towViewOf(record);
  });
  server.read(ROUTES.listTows, async ({ query }) => {
    const page = await tools.tows.list({
      states: query.state === undefined ? [] : [query.state],
      search: query.q ?? null,
      attention: query.attention === 'true',
      unsent: query.unsent === 'true',
      overdueAfter: query.overdue === 'true' ? tools.rules.overdueAfter : null,
      crew: query.crew ?? null,
      order: query.order ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
    return { items: page.items.map(towViewOf), next_cursor: page.nextCursor };
  });

  const fact = (call: { actor: Actor; params: Params }, command: FactCommand): Change => {
    const ref = call.params('towing_reference_id');
    return { effect: (remember) => recordFact(tools, { ref, command, actor: call.actor, remember }) };
  };
  server.change(ROUTES.started, (call) =>
    fact(call, {
      event: 'started',
      plateNumber: call.body.plate_number,
      towedLocation: call.body.towed_location,
      latitude: call.body.latitude,
      longitude: call.body.longitude,
      occurredAt: call.body.occurred_at,
    }),
  );
  server.change(ROUTES.detained, (call) => fact(call, { event: 'detained', occurredAt: call.body.occurred_at }));
  server.change(ROUTES.released, (call) => fact(call, { event: 'released', occurredAt: call.body.occurred_at }));
  server.change(ROUTES.canceled, (call) =>
    fact(call, {
      event: 'canceled',
      cancellationReason: call.body.cancellation_reason,
      occurredAt: call.body.occurred_at,
      reason: call.body.reason,
    }),
  );
  server.change(ROUTES.invoice, (call) =>
    fact(call, {
      event: 'invoice',
      vehicleType: call.body.vehicle_type,
      delayInDays: call.body.delay_in_days,
      overrideReason: call.body.override_reason,
    }),
  );
  server.change(ROUTES.payment, (call) =>
    fact(call, {
      event: 'payment',
      paymentStatus: call.body.payment_status,
      externalReference: call.body.external_reference,
      occurredAt: call.body.occurred_at,
    }),
  );

  const decision = (call: { actor: Actor; params: Params }, command: DecisionCommand): Change => {
    const ref = call.params('towing_reference_id');
    const reportId = call.params('report_id');
    return { effect: (remember) => decideReport(tools, { ref, reportId, command, actor: call.actor, remember }) };
  };
  server.change(ROUTES.retryReport, (call) => decision(call, { action: 'retry' }));
  server.change(ROUTES.correctReport, (call) => decision(call, { action: 'correct', fields: call.body }));
  server.change(ROUTES.waiveReport, (call) => decision(call, { action: 'waive', reason: call.body.reason }));
  server.change(ROUTES.acceptReport, (call) => decision(call, { action: 'accept', reason: call.body.reason }));
}
