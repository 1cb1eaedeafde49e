import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import { Router, type RequestHandler } from 'express';

/** BullMQ's board at `/queues`. It is read-only, because a job that is retried there would bypass the outbox. */
export function createQueuePages(queues: readonly Queue[]): RequestHandler {
  const pages = new ExpressAdapter();
  pages.setBasePath('/queues');
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: pages,
    // The list of workers needs CLIENT LIST, which shows the clients of everyone who shares this Redis.
    options: { uiConfig: { boardTitle: 'towhook queues', hideRedisDetails: true, showWorkers: false } },
  });
  const router: unknown = pages.getRouter();
  if (!isHandler(router)) throw new Error('the queue pages have no router');
  return Router().use(removeExternalLinks(), router);
}

const EXTERNAL_LINK = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/**
 * Removes links to other sites from the HTML: bull-board loads a font from one, which the content security policy blocks with
 * an error in the browser console. Remove this when bull-board serves its own font.
 */
function removeExternalLinks(): RequestHandler {
  return (_request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body: unknown) => send(typeof body === 'string' ? body.replaceAll(EXTERNAL_LINK, '') : body);
    next();
  };
}

/** bull-board types its router as `any`. */
function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function';
}
