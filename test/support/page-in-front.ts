import { once } from 'node:events';
import { createServer, request } from 'node:http';

/** A proxy in front of the service that can answer with a page of its own. */
export interface PageInFront {
  /** The address to use in place of the service's. */
  readonly url: string;
  /** Answers every request with the page, status 200, and passes nothing on. */
  show(): void;
  /** Passes every request on again. */
  hide(): void;
  /** How many requests the page answered, by method and path. */
  answered(): readonly string[];
}

const PAGE = '<!doctype html><html><body><h1>Down for maintenance</h1></body></html>';
const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Starts a proxy that forwards every request until `show`. The proxy ends with the test. */
export async function servePages(serviceUrl: string): Promise<PageInFront> {
  const answered: string[] = [];
  let isShown = false;
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '/' } = incoming;
    if (isShown) {
      answered.push(`${method} ${url}`);
      incoming.resume();
      incoming.on('end', () => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
      return;
    }
    const forwarded = request(new URL(url, serviceUrl), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('error', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    show: () => void (isShown = true),
    hide: () => void (isShown = false),
    answered: () => answered,
  };
}
