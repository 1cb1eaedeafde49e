import { ROUTES } from '../../contracts/operator-routes';
import type { WithheldCommand } from '../../domain/outbox/withheld';
import { decideHeldTow, decideHeldViolation } from '../../workflow/outbox/decide';
import { modeViewOf, switchMode } from '../../workflow/outbox/service-mode';
import { withheldCsv, withheldItemOf, type WithheldStore } from '../../workflow/outbox/withheld-list';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import type { PathCall } from '../check-call';
import type { Change } from '../idempotency';
import { refusedResponse, type RefusedResponse } from '../responses';

/** Refuses what would call the service while nothing is sent. */
export async function refusalOfCalls(withheld: Pick<WithheldStore, 'summary'>): Promise<RefusedResponse | null> {
  if ((await withheld.summary()).sinceMs === null) return null;
  const message = 'Nothing is asked of the service in shadow mode.';
  return refusedResponse(503, { code: 'shadow_mode', message });
}

/** Whether anything is sent, what would have been sent, and the decisions about it. */
export function serveWithheld(server: ApiServer, tools: OperatorTools): void {
  const { withheld, addressOf } = tools;
  server.list(ROUTES.readWithheld, async ({ query }) => {
    const [summary, page] = await Promise.all([
      withheld.summary(),
      withheld.list({ cursor: query.cursor ?? null, limit: query.limit }),
    ]);
    return {
      mode: modeViewOf(summary),
      held: summary.held,
      items: page.items.map((item) => withheldItemOf(item, addressOf)),
      next_cursor: page.nextCursor,
    };
  });
  const status = async () => {
    const [cursor, openTasks, summary] = await Promise.all([
      tools.changes.now(),
      tools.tasks.count(),
      withheld.summary(),
    ]);
    return { mode: modeViewOf(summary), held: summary.held, open_tasks: openTasks, cursor };
  };
  server.read(ROUTES.readStatus, status);
  server.change(ROUTES.changeMode, ({ actor, body }) => ({
    effect: (idempotency) => switchMode(tools.mode, { ...body, actor, idempotency }),
    answer: status,
  }));
  server.csv(ROUTES.exportWithheld, () => ({ name: 'shadow.csv', text: withheldCsv(withheld, addressOf) }));

  const onTow = ({ actor, params }: PathCall, command: WithheldCommand): Change => {
    const ref = params('towing_reference_id');
    return { effect: (idempotency) => decideHeldTow(tools, { ref, command, actor, idempotency }) };
  };
  const onViolation = ({ actor, params }: PathCall, command: WithheldCommand): Change => {
    const id = params('violation_id');
    return { effect: (idempotency) => decideHeldViolation(tools, { id, command, actor, idempotency }) };
  };
  server.change(ROUTES.sendWithheldTow, (call) => onTow(call, { action: 'send', reason: call.body.reason }));
  server.change(ROUTES.declineWithheldTow, (call) => onTow(call, { action: 'decline', reason: call.body.reason }));
  server.change(ROUTES.sendWithheldViolation, (call) =>
    onViolation(call, { action: 'send', reason: call.body.reason }),
  );
  server.change(ROUTES.declineWithheldViolation, (call) =>
    onViolation(call, { action: 'decline', reason: call.body.reason }),
  );
}
