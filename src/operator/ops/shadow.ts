import { ROUTES } from '../../contracts/operator-routes';
import type { ShadowCommand } from '../../domain/outbox/held-record';
import { decideHeldTow, decideHeldViolation } from '../../workflow/outbox/decide';
import { switchMode } from '../../workflow/outbox/service-mode';
import { modeViewOf, shadowCsv, shadowItemOf, type ShadowStore } from '../../workflow/outbox/shadow-list';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import type { PathCall } from '../check-call';
import type { Change } from '../idempotency';
import { refusedResponse, type RefusedResponse } from '../responses';

/** Refuses what would call the service while nothing is sent. */
export async function refusalOfCalls(shadow: Pick<ShadowStore, 'summary'>): Promise<RefusedResponse | null> {
  if ((await shadow.summary()).sinceMs === null) return null;
  const message = 'Nothing is asked of the service in shadow mode.';
  return refusedResponse(503, { code: 'shadow_mode', message });
}

/** Shadow mode: what would have been sent, and the decisions about it. */
export function serveShadow(server: ApiServer, tools: OperatorTools): void {
  const { shadow, addressOf } = tools;
  server.list(ROUTES.readShadow, async ({ query }) => {
    const [summary, page] = await Promise.all([
      shadow.summary(),
      shadow.list({ cursor: query.cursor ?? null, limit: query.limit }),
    ]);
    return {
      mode: modeViewOf(summary),
      held: summary.held,
      items: page.items.map((item) => shadowItemOf(item, addressOf)),
      next_cursor: page.nextCursor,
    };
  });
  const status = async () => {
    const [openTasks, summary] = await Promise.all([tools.tasks.count(), shadow.summary()]);
    return { mode: modeViewOf(summary), held: summary.held, open_tasks: openTasks };
  };
  server.read(ROUTES.readStatus, status);
  server.change(ROUTES.changeMode, ({ actor, body }) => ({
    effect: (idempotency) => switchMode(tools.mode, { ...body, actor, idempotency }),
    answer: status,
  }));
  server.csv(ROUTES.exportShadow, () => ({ name: 'shadow.csv', text: shadowCsv(shadow, addressOf) }));

  const onTow = ({ actor, params }: PathCall, command: ShadowCommand): Change => {
    const ref = params('towing_reference_id');
    return { effect: (idempotency) => decideHeldTow(tools, { ref, command, actor, idempotency }) };
  };
  const onViolation = ({ actor, params }: PathCall, command: ShadowCommand): Change => {
    const id = params('violation_id');
    return { effect: (idempotency) => decideHeldViolation(tools, { id, command, actor, idempotency }) };
  };
  server.change(ROUTES.sendShadowTow, (call) => onTow(call, { action: 'send', reason: call.body.reason }));
  server.change(ROUTES.declineShadowTow, (call) => onTow(call, { action: 'decline', reason: call.body.reason }));
  server.change(ROUTES.sendShadowViolation, (call) => onViolation(call, { action: 'send', reason: call.body.reason }));
  server.change(ROUTES.declineShadowViolation, (call) =>
    onViolation(call, { action: 'decline', reason: call.body.reason }),
  );
}
