import type { ErrorRequestHandler, Express } from 'express';
import { errorFacts, type Log } from '../platform/log';
import { missing } from './answers';
import { keptForm } from './kept-form';
import { missingPage, refusedPage, unavailablePage } from './pages/errors';
import { backOf } from './requests';
import { send, type Exchange, type ServeTools } from './serve';
import { viewerOf } from './viewer';

/**
 * What a page shows when something failed: an address or a form that cannot be read, a form that is too large, or a store
 * that cannot be asked.
 */
export function errorPages({ log, ...tools }: ServeTools & { log: Log }): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    if (!response.hasHeader('content-security-policy')) dressed({ request, response }, tools);
    // Who looks at it may be what could not be found out.
    const viewer = viewerOf(request, null, tools.clock);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (typeof httpStatus === 'number' && httpStatus < 500) {
      // Parts of an address that cannot be decoded fail before anything else is looked at.
      const isAddress = error instanceof URIError && httpStatus === 400;
      const shown = isAddress
        ? missingPage(viewer, httpStatus)
        : refusedPage(viewer, { httpStatus, back: backOf(request) });
      return send({ request, response }, viewer, shown, tools);
    }
    log.error('page.failed', { method: request.method, path: routeOf(request.route), ...errorFacts(error) });
    response.set('retry-after', '2');
    const form = keptForm(request);
    const again = form && { form, formToken: form.get('form_token') ?? '' };
    const back = request.method === 'GET' ? request.originalUrl : backOf(request);
    send({ request, response }, viewer, unavailablePage(viewer, { back, again }), tools);
  };
}

/** Has a page that no route made pass what every page passes. */
function dressed({ request, response }: Exchange, { dress }: ServeTools): void {
  for (const step of dress) step(request, response, () => {});
}

/** The address by its pattern: the address itself may carry a plate. */
function routeOf(route: unknown): unknown {
  return typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
}

/** Shows people a page where a program would be told in JSON that there is no such address. */
export function serveMissing(app: Express, tools: ServeTools): void {
  app.get('/{*path}', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next();
    dressed({ request, response }, tools);
    send({ request, response }, viewerOf(request, null, tools.clock), missing, tools);
  });
}
