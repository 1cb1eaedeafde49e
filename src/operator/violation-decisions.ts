import { ROUTES } from '../contracts/operator-routes';
import { decideViolation, type DecideTools, type ViolationCommand } from '../workflow/decide-violation';
import { linkViolation } from '../workflow/link-violation';
import type { Actor } from '../workflow/progress';
import type { Change } from './idempotency';
import type { Server } from './serve';

/** What people decide about violations, and which tow comes from which. */
export function serveViolationDecisions(server: Server, tools: DecideTools): void {
  const decision = (call: { actor: Actor; params: (name: string) => string }, command: ViolationCommand): Change => {
    const id = call.params('violation_id');
    return { effect: (remember) => decideViolation(tools, { id, command, actor: call.actor, remember }) };
  };
  server.change(ROUTES.retryViolation, (call) => decision(call, { action: 'retry' }));
  server.change(ROUTES.correctViolation, (call) => decision(call, { action: 'correct', fields: call.body }));
  server.change(ROUTES.waiveViolation, (call) => decision(call, { action: 'waive', reason: call.body.reason }));
  server.change(ROUTES.acceptViolation, (call) =>
    decision(call, {
      action: 'accept',
      reason: call.body.reason,
      reference: call.body.violation_reference_id ?? null,
    }),
  );

  server.change(ROUTES.linkViolation, (call) => {
    const ref = call.params('towing_reference_id');
    return {
      effect: (remember) =>
        linkViolation(tools, { ref, violationId: call.body.violation_id, actor: call.actor, remember }),
    };
  });
}
