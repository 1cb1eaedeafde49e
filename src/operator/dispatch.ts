import { ROUTES } from '../contracts/operator-routes';
import type { DispatchCommand } from '../domain/dispatch-rules';
import { keepOnTow } from '../workflow/dispatch';
import type { Actor, ProgressTools } from '../workflow/progress';
import type { Change } from './idempotency';
import type { Server } from './serve';

/** What the operator keeps of a tow for itself: crew and truck, steps, yard, holds, notes. */
export function serveDispatch(server: Server, tools: Pick<ProgressTools, 'records' | 'clock'>): void {
  const keep = (call: { actor: Actor; params: (name: string) => string }, command: DispatchCommand): Change => {
    const ref = call.params('towing_reference_id');
    return { effect: (remember) => keepOnTow(tools, { ref, command, actor: call.actor, remember }) };
  };
  server.change(ROUTES.assignTow, (call) => keep(call, { kind: 'assign', ...call.body }));
  server.change(ROUTES.recordStep, (call) =>
    keep(call, { kind: 'step', step: call.body.step, occurredAt: call.body.occurred_at }),
  );
  server.change(ROUTES.setYard, (call) => keep(call, { kind: 'yard', ...call.body }));
  server.change(ROUTES.placeHold, (call) =>
    keep(call, { kind: 'hold', holdId: tools.clock.id(), reason: call.body.reason }),
  );
  server.change(ROUTES.liftHold, (call) =>
    keep(call, { kind: 'lift', holdId: call.params('hold_id'), reason: call.body.reason }),
  );
  server.change(ROUTES.addNote, (call) => keep(call, { kind: 'note', text: call.body.text }));
}
