import { ROUTES } from '../../contracts/operator-routes';
import type { ViolationCommand } from '../../domain/violation/decide-violation';
import { decideViolation, type DecideTools } from '../../workflow/violation/decide-violation';
import { linkViolation } from '../../workflow/violation/link-violation';
import type { Change } from '../idempotency';
import type { ApiServer } from '../api-server';
import type { PathCall } from '../check-call';

/** Decisions about violations, and the links from tows to violations. */
export function serveViolationDecisions(server: ApiServer, tools: DecideTools): void {
  const decision = (call: PathCall, command: ViolationCommand): Change => {
    const id = call.params('violation_id');
    return { effect: (idempotency) => decideViolation(tools, { id, command, actor: call.actor, idempotency }) };
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
      effect: (idempotency) =>
        linkViolation(tools, { ref, violationId: call.body.violation_id, actor: call.actor, idempotency }),
    };
  });
}
