import type { ErrorRequestHandler, Express } from 'express';
import { errorFacts, type Log } from '../platform/log';
import { missing, page } from './answers';
import { Outdated, Unavailable } from './pages/errors';
import { send, type ServeTools } from './serve';
import { viewerOf } from './viewer';

/** What a page shows when something failed: a form that is too large or cannot be read, or a store that cannot be asked. */
export function errorPages({ log, ...tools }: ServeTools & { log: Log }): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    // Who looks at it may be what could not be found out.
    const viewer = viewerOf(request, null, tools.clock);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (typeof httpStatus === 'number' && httpStatus < 500) {
      return send(
        { request, response },
        viewer,
        page(String(httpStatus), <Outdated viewer={viewer} />, { httpStatus }),
        tools,
      );
    }
    log.error('page.failed', { method: request.method, path: routeOf(request.route), ...errorFacts(error) });
    response.set('retry-after', '2');
    send({ request, response }, viewer, page('503', <Unavailable viewer={viewer} />, { httpStatus: 503 }), tools);
  };
}

/** The address by its pattern: the address itself may carry a plate. */
function routeOf(route: unknown): unknown {
  return typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
}

/** Shows people a page where a program would be told in JSON that there is no such address. */
export function serveMissing(app: Express, tools: ServeTools, others: readonly string[]): void {
  app.get('/{*path}', (request, response, next) => {
    const isOfOthers = others.some((path) => request.path === path || request.path.startsWith(`${path}/`));
    if (isOfOthers || request.accepts(['json', 'html']) !== 'html') return next();
    for (const step of tools.dress) step(request, response, () => {});
    send({ request, response }, viewerOf(request, null, tools.clock), missing, tools);
  });
}
