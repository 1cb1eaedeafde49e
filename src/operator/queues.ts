import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import type { Express, RequestHandler } from 'express';
import { ROUTES } from '../contracts/operator-routes';
import { basicPassword, type Authenticator } from './authenticate';
import { sendError } from './reply';
import type { Server } from './serve';

/** A queue as ops see it: its jobs, and the records due for work. */
export interface WatchedQueue {
  readonly queue: Queue;
  readonly backlog: () => Promise<{ due: number; oldestAgeMs: number }>;
}

/** The figures of the queues. */
export function serveQueues(server: Server, queues: readonly WatchedQueue[]): void {
  server.read(ROUTES.listQueues, () =>
    Promise.all(
      queues.map(async ({ queue, backlog }) => {
        const [counts, { due, oldestAgeMs }] = await Promise.all([
          queue.getJobCounts('waiting', 'active', 'failed'),
          backlog(),
        ]);
        return {
          name: queue.name,
          waiting: counts['waiting'] ?? 0,
          active: counts['active'] ?? 0,
          failed: counts['failed'] ?? 0,
          due,
          oldest_age_ms: oldestAgeMs,
        };
      }),
    ),
  );
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
  app.use('/queues', requireOps(authenticator), router);
}

/** The ops key as the password of Basic authentication; the user name does not matter. */
function requireOps(authenticator: Authenticator): RequestHandler {
  return async (request, response, next) => {
    const password = basicPassword(request);
    const actor = password === null ? null : await authenticator.holderOf(password);
    if (actor?.role === 'ops') return next();
    response.set('www-authenticate', 'Basic realm="towhook queues", charset="UTF-8"');
    sendError(response, 401, { code: 'not_authenticated', message: 'The password is an API key of the role ops.' });
  };
}

/** The pages' router is typed as anything at all. */
function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function';
}
