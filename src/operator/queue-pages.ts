import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import { Router, type RequestHandler } from 'express';

/** BullMQ's board of the queues at `/queues`: read-only for everybody, since retrying a job by hand would bypass the outbox. */
export function createQueuePages(queues: readonly Queue[]): RequestHandler {
  const pages = new ExpressAdapter();
  pages.setBasePath('/queues');
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter: pages,
    options: { uiConfig: { boardTitle: 'towhook queues', hideRedisDetails: true } },
  });
  const router: unknown = pages.getRouter();
  if (!isHandler(router)) throw new Error('the queue pages have no router');
  return Router().use(withoutOutsideLinks(), router);
}

/** A link of a page's head to an address that is not ours. */
const OUTSIDE_LINK = /<link\b[^>]*\bhref="https?:[^>]*>/g;

/** The pages ask another site for a font. The content security policy forbids it, and the browser would complain. */
function withoutOutsideLinks(): RequestHandler {
  return (_request, response, next) => {
    const send = response.send.bind(response);
    response.send = (body: unknown) => send(typeof body === 'string' ? body.replaceAll(OUTSIDE_LINK, '') : body);
    next();
  };
}

/** The pages' router is typed as anything at all. */
function isHandler(value: unknown): value is RequestHandler {
  return typeof value === 'function';
}
