import type { Queue } from 'bullmq';
import type { Express, RequestHandler } from 'express';
import { ROUTES } from '../../contracts/operator-routes';
import { auditOf, type Actor } from '../../domain/ops/audit';
import { unknown } from '../../domain/refusal';
import { refused, type ActionResult } from '../../workflow/action-result';
import type { ApiServer } from '../api-server';
import type { OperatorTools, WatchedQueue } from '../tools';
import type { Authenticator } from '../authenticate';
import type { Change } from '../idempotency';
import { requireOps } from '../authenticate';
import type * as queuePages from './queue-pages';

/** Queue counts, and pausing and resuming a queue. */
export function serveQueues(server: ApiServer, tools: Pick<OperatorTools, 'queues' | 'audit'>): void {
  const { queues, audit } = tools;
  server.read(ROUTES.listQueues, () => Promise.all(queues.map(({ view }) => view())));
  // BullMQ keeps the pause, our store keeps the audit entry. The pause is idempotent and comes first: if the audit entry
  // is lost, a repeated request writes it. In the other order a repeated request would not pause the queue.
  const change = (
    { actor, name, reason }: { actor: Actor; name: string; reason: string | undefined },
    step: { action: 'queue.paused' | 'queue.resumed'; run: (queue: Queue) => Promise<void> },
  ): Change => {
    const watched = queues.find(({ queue }) => queue.name === name);
    if (!watched) {
      const names = queues.map(({ queue }) => queue.name).join(', ');
      const queueNotFound = unknown('queue_not_found', `There is no such queue. Queues are ${names}.`).refusal;
      return { effect: () => Promise.resolve(refused(queueNotFound)) };
    }
    return {
      effect: async (idempotency): Promise<ActionResult> => {
        await step.run(watched.queue);
        const entry = auditOf(actor, step.action, { on: { queue: name }, why: reason });
        return audit.append({ audit: entry, idempotency });
      },
      answer: () => watched.view(),
      actsBeforeCommit: true,
    };
  };
  server.change(ROUTES.pauseQueue, ({ actor, params, body }) =>
    change(
      { actor, name: params('queue'), reason: body.reason },
      { action: 'queue.paused', run: (queue) => queue.pause() },
    ),
  );
  server.change(ROUTES.resumeQueue, ({ actor, params, body }) =>
    change(
      { actor, name: params('queue'), reason: body.reason },
      { action: 'queue.resumed', run: (queue) => queue.resume() },
    ),
  );
}

/** Loaded on first use: BullMQ's board is large and rarely opened. */
declare const require: (module: './queue-pages') => typeof queuePages;

/** Serves BullMQ's board at `/queues` to the role ops. */
export function mountQueuePages(app: Express, queues: readonly WatchedQueue[], authenticator: Authenticator): void {
  let pages: RequestHandler | null = null;
  app.use('/queues', requireOps(authenticator), (request, response, next) => {
    pages ??= require('./queue-pages').createQueuePages(queues.map(({ queue }) => queue));
    return pages(request, response, next);
  });
}
