import type { ErrorRequestHandler, Express } from 'express';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { missing } from './page';
import { keptForm } from './forms';
import { previousPage, type HttpExchange } from './requests';
import { missingPage, refusedPage, unavailablePage } from './parts/error-pages';
import { send, type ServeTools } from './serve';
import { viewerOf } from './viewer';

/** Error pages: an address or form that cannot be read, a form that is too large, or Redis being unreachable. */
export function errorPages({ log, ...tools }: ServeTools & { log: Log }): ErrorRequestHandler {
  return async (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    if (!response.hasHeader('content-security-policy')) applyMiddleware({ request, response }, tools);
    // The session may be what could not be read.
    const viewer = viewerOf(request, null, tools.clock);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (typeof httpStatus === 'number' && httpStatus < 500) {
      // An address that cannot be decoded fails first.
      const isAddress = error instanceof URIError && httpStatus === 400;
      const shown = isAddress
        ? missingPage(viewer, httpStatus)
        : refusedPage(viewer, { httpStatus, back: previousPage(request) });
      return send({ request, response }, viewer, shown, tools);
    }
    log.error('page.failed', { method: request.method, path: routeOf(request.route), ...errorFacts(error) });
    // Whether the visitor has a session is not known.
    if (request.method === 'POST' && request.body === undefined) await readIfAllowed({ request, response }, tools);
    response.set('retry-after', '2');
    const form = keptForm(request);
    const again = form && { path: viewer.here, form, formToken: form.get('form_token') ?? '' };
    const back = request.method === 'GET' ? request.originalUrl : previousPage(request);
    send({ request, response }, viewer, unavailablePage(viewer, { back, again }), tools);
  };
}

/** A form that is not read is not shown again. */
async function readIfAllowed(exchange: HttpExchange, { forms }: ServeTools): Promise<void> {
  try {
    await forms.readOfStranger(exchange);
  } catch {}
}

/** Runs the middleware for a page without a route. */
function applyMiddleware({ request, response }: HttpExchange, { middleware }: ServeTools): void {
  for (const step of middleware) step(request, response, () => {});
}

/** The route pattern, because the address may contain a plate. */
function routeOf(route: unknown): unknown {
  return typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
}

/** A page for unknown addresses. Clients that prefer JSON get the answer of the API. */
export function serveMissing(app: Express, tools: ServeTools): void {
  app.get('/{*path}', (request, response, next) => {
    if (request.accepts(['json', 'html']) !== 'html') return next();
    applyMiddleware({ request, response }, tools);
    send({ request, response }, viewerOf(request, null, tools.clock), missing, tools);
  });
}
