import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { conflict, unknown } from '../domain/refusal';
import { PAUSABLE_OPERATIONS } from '../domain/vocabulary';
import type { SendingStore } from '../workflow/ports';
import { effectOf, refused, type Effect } from '../workflow/effect';
import type { Server } from './serve';

const noSuchOperation = unknown('operation_not_found', `Operations are ${PAUSABLE_OPERATIONS.join(', ')}.`).refusal;
const notPaused = conflict('operation_not_paused', 'The operation is not paused.').refusal;

/** What holds sending, and the end of a pause by hand. */
export function serveSending(server: Server, sending: SendingStore): void {
  server.read(ROUTES.readSending, () => sending.read());
  server.change(ROUTES.resumeOperation, ({ params, actor, body }) => ({
    effect: async (remember): Promise<Effect> => {
      const operation = PAUSABLE_OPERATIONS.find((kind) => kind === params('operation'));
      if (!operation) return refused(noSuchOperation);
      const audit = auditOf(actor, 'operation.resumed', { on: { operation }, why: body.reason });
      return effectOf(await sending.resume(operation, { audit, remember }), notPaused);
    },
    answer: () => sending.read(),
  }));
}
