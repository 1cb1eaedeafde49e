import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import type { Express, RequestHandler } from 'express';
import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { unknown } from '../domain/refusal';
import type { AuditStore } from '../workflow/ports';
import { effectOf, type Actor, type Effect } from '../workflow/progress';
import { basicPassword, slowed, type Authenticator } from './authenticate';
import type { Change } from './idempotency';
import { keepUnstored } from './identify';
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
    if (!watched) {
      const { refusal } = unknown('queue_not_found', `Queues are ${queues.map(({ queue }) => queue.name).join(', ')}.`);
      return { effect: () => Promise.resolve({ kind: 'refused', refusal }), answer: () => Promise.resolve(null) };
    }
    return {
      effect: async (remember): Promise<Effect> => {
        await act.on(watched.queue);
        const entry = auditOf(actor, act.action, { on: { queue: name }, why: reason });
        const effect = effectOf(await audit.append({ audit: entry, remember }));
        if (effect === 'stale') throw new Error('the audit has no version');
        return effect;
      },
      answer: () => viewOf(watched),
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

/** The queue pages: read-only for everybody, since retrying a job by hand would pass by the outbox. */
export function mountQueuePages(app: Express, queues: readonly WatchedQueue[], authenticator: Authenticator): void {
  const pages = new ExpressAdapter();
  pages.setBasePath('/queues');
  createBullBoard({
    queues: queues.map(({ queue }) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: pages,
    options: { uiConfig: { boardTitle: 'towhook queues', hideRedisDetails: true } },
  });
  const router: unknown = pages.getRouter();
  if (!isHandler(router)) throw new Error('the queue pages have no router');
  app.use('/queues', requireOps(authenticator), withoutOutsideLinks(), router);
}

/** A link of a page's head to an address that is not ours. */
const OUTSIDE_LINK = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/** The pages ask another site for a font. Nothing here does: the policy would stop it, and the browser complain. */
function withoutOutsideLinks(): RequestHandler {
  return (_request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body: unknown) => send(typeof body === 'string' ? body.replaceAll(OUTSIDE_LINK, '') : body);
    next();
  };
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

/** The pages' router is typed as anything at all. */
function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function';
}
