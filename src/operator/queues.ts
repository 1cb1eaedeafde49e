import type { Queue } from 'bullmq';
import type { Express, RequestHandler } from 'express';
import { ROUTES } from '../contracts/operator-routes';
import { auditOf, type Actor } from '../domain/audit';
import { unknown } from '../domain/refusal';
import type { AuditStore } from '../workflow/ports';
import { effectOf, refused, type Effect } from '../workflow/effect';
import { basicPassword, slowed, type Authenticator } from './authenticate';
import type { Change } from './idempotency';
import { keepUnstored } from './identify';
import type * as queuePages from './queue-pages';
import { sendError, sendRefusal } from './reply';
import type { Server } from './serve';

/** A queue as ops see it: its jobs, and the records due for work. */
export interface WatchedQueue {
  readonly queue: Queue;
  readonly backlog: () => Promise<{ due: number; oldestAgeMs: number }>;
}

/** The figures of the queues, and their pause. */
export function serveQueues(server: Server, tools: { queues: readonly WatchedQueue[]; audit: AuditStore }): void {
  const { queues, audit } = tools;
  server.read(ROUTES.listQueues, () => Promise.all(queues.map(viewOf)));
  /**
   * The pause is BullMQ's and its entry in the audit ours: the pause comes first, since a repeated request makes up for
   * an entry that got lost, and the memory of a request must not outrun its effect. Doing it twice is doing it once.
   */
  const change = (
    { actor, name, reason }: { actor: Actor; name: string; reason: string | undefined },
    act: { action: 'queue.paused' | 'queue.resumed'; on: (queue: Queue) => Promise<void> },
  ): Change => {
    const watched = queues.find(({ queue }) => queue.name === name);
    const names = queues.map(({ queue }) => queue.name).join(', ');
    const noSuchQueue = unknown('queue_not_found', `Queues are ${names}.`).refusal;
    if (!watched) return { effect: () => Promise.resolve(refused(noSuchQueue)) };
    return {
      effect: async (remember): Promise<Effect> => {
        await act.on(watched.queue);
        const entry = auditOf(actor, act.action, { on: { queue: name }, why: reason });
        return effectOf(await audit.append({ audit: entry, remember }), noSuchQueue);
      },
      answer: () => viewOf(watched),
      actsBeforeCommit: true,
    };
  };
  server.change(ROUTES.pauseQueue, ({ actor, params, body }) =>
    change(
      { actor, name: params('queue'), reason: body.reason },
      { action: 'queue.paused', on: (queue) => queue.pause() },
    ),
  );
  server.change(ROUTES.resumeQueue, ({ actor, params, body }) =>
    change(
      { actor, name: params('queue'), reason: body.reason },
      { action: 'queue.resumed', on: (queue) => queue.resume() },
    ),
  );
}

async function viewOf({ queue, backlog }: WatchedQueue) {
  const [counts, { due, oldestAgeMs }, paused] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'failed'),
    backlog(),
    queue.isPaused(),
  ]);
  return {
    name: queue.name,
    waiting: counts['waiting'] ?? 0,
    active: counts['active'] ?? 0,
    failed: counts['failed'] ?? 0,
    due,
    oldest_age_ms: oldestAgeMs,
    paused,
  };
}

/** BullMQ's board is large, and few open it. */
declare const require: (module: './queue-pages') => typeof queuePages;

/** The queue pages of BullMQ's board, which are loaded when they are first opened. */
export function mountQueuePages(app: Express, queues: readonly WatchedQueue[], authenticator: Authenticator): void {
  let pages: RequestHandler | null = null;
  app.use('/queues', requireOps(authenticator), (request, response, next) => {
    pages ??= require('./queue-pages').createQueuePages(queues.map(({ queue }) => queue));
    return pages(request, response, next);
  });
}

/** A session of the role ops, or an ops key as the password of Basic authentication; the user name does not matter. */
function requireOps(authenticator: Authenticator): RequestHandler {
  return async (request, response, next) => {
    const password = basicPassword(request);
    const checked = password === null ? null : await authenticator.check(password, request.ip);
    if (checked?.kind === 'held' && checked.actor.role === 'ops') return next();
    if (checked?.kind === 'slowed') return sendRefusal(response, slowed(checked).refusal);
    if ((await authenticator.signedIn(request))?.role === 'ops') {
      keepUnstored(response);
      return next();
    }
    response.set('www-authenticate', 'Basic realm="towhook queues", charset="UTF-8"');
    sendError(response, 401, { code: 'not_authenticated', message: 'The password is an API key of the role ops.' });
  };
}
