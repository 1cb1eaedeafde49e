import { ROUTES } from '../contracts/operator-routes';
import { unknown } from '../domain/refusal';
import { PAUSABLE_OPERATIONS } from '../domain/vocabulary';
import { refused, type Effect } from '../workflow/effect';
import type { SendingStore } from '../workflow/ports';
import { resumeOperation } from '../workflow/resume-operation';
import type { RecordStore } from '../workflow/transaction-port';
import type { Server } from './serve';

const noSuchOperation = unknown('operation_not_found', `Operations are ${PAUSABLE_OPERATIONS.join(', ')}.`).refusal;

/** What holds sending, and the end of a pause by hand. */
export function serveSending(server: Server, tools: { sending: SendingStore; records: RecordStore }): void {
  const { sending } = tools;
  server.read(ROUTES.readSending, () => sending.read());
  server.change(ROUTES.resumeOperation, ({ params, actor, body }) => ({
    effect: (remember): Promise<Effect> => {
      const operation = PAUSABLE_OPERATIONS.find((kind) => kind === params('operation'));
      if (!operation) return Promise.resolve(refused(noSuchOperation));
      return resumeOperation(tools, { operation, reason: body.reason, actor, remember });
    },
    answer: () => sending.read(),
  }));
}
