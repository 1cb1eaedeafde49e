import type { Express, RequestHandler } from 'express';
import type { Metrics } from '../platform/metrics';
import type { Authenticator } from './authenticate';
import { identify } from './identify';

/** Addresses that need an API key of any role or a session, unless they are opened by name. */
const PATHS = { metrics: ['/metrics'], docs: ['/docs', '/openapi.json'] } as const;

export type OpenPath = keyof typeof PATHS;

/** Closes the metrics and the API documentation, those in `open` excepted. Comes before what serves them. */
export function closePaths(app: Express, authenticator: Authenticator, open: readonly OpenPath[]): void {
  const requireCaller: RequestHandler = async (request, response, next) => {
    if (await identify(request, response, authenticator)) next();
  };
  for (const name of ['metrics', 'docs'] as const) {
    if (!open.includes(name)) app.use([...PATHS[name]], requireCaller);
  }
}

/** Serves `GET /metrics`, in the text format of Prometheus. */
export function serveMetrics(app: Express, metrics: Pick<Metrics, 'text'>): void {
  app.get('/metrics', async (_request, response) => {
    const { contentType, text } = await metrics.text();
    response.set({ 'content-type': contentType, 'cache-control': 'no-store' }).send(text);
  });
}
