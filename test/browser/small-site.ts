import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type Express } from 'express';
import { PNG } from '../support/images';

/** As strict as the policy of the console. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

export interface SmallSite {
  /** The absolute URL of a path. */
  at(path: string): string;
}

/** Serves pages under a strict Content-Security-Policy. `pages`: path to the content of the body. */
export function useSmallSite(
  pages: Readonly<Record<string, string>>,
  more: (app: Express) => void = () => {},
): SmallSite {
  let server: Server | undefined;
  let port = 0;
  beforeAll(async () => {
    const app = express();
    app.use((_request, response, next) => {
      response.set('content-security-policy', POLICY);
      next();
    });
    more(app);
    app.get('/icon.png', (_request, response) => response.type('png').send(PNG));
    for (const [path, body] of Object.entries(pages)) {
      const head = '<title>Small</title><link rel="icon" href="/icon.png">';
      const text = `<!doctype html><html lang="en">${head}<main><h1>Small</h1>${body}</main></html>`;
      app.get(path, (_request, response) => response.type('html').send(text));
    }
    const started = createServer(app);
    server = started;
    await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
    ({ port } = addressOf(started));
  });
  afterAll(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
  });
  return { at: (path) => `http://127.0.0.1:${port}${path}` };
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the small site has no port');
  return address;
}
