import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { OPERATIONS, type OperationName } from '../../src/contracts/service/operations';
import { portOf } from './server-port';

type ProxyHandler = (incoming: IncomingMessage, response: ServerResponse) => void;

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Serves `handle` on a free port and returns the address. It ends with the test. */
export async function startProxy(handle: ProxyHandler): Promise<string> {
  const proxy = createServer(handle);
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stops.push(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const port = portOf(proxy);
  return `http://127.0.0.1:${port}`;
}

/** Forwards a request at once and passes its answer on when `mayAnswer` resolves. */
export function forward(
  serviceUrl: string,
  [incoming, response]: readonly [IncomingMessage, ServerResponse],
  mayAnswer: Promise<unknown> | null = null,
): void {
  const { method, headers, url = '/' } = incoming;
  const forwarded = request(new URL(url, serviceUrl), { method, headers }, (answer) => {
    const passOn = () => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    };
    if (mayAnswer === null) passOn();
    else void mayAnswer.then(passOn);
  });
  forwarded.on('error', () => response.destroy());
  response.on('error', () => forwarded.destroy());
  incoming.pipe(forwarded);
}

/** A proxy in front of the service that withholds the answers of one operation. */
export interface HeldAnswers {
  /** The address to use in place of the service's. */
  readonly url: string;
  /** Passes on the withheld answers and all later ones. */
  release(): void;
}

/**
 * Starts a proxy that forwards every request at once and withholds the answers of `operation` until `release`. The
 * proxy ends with the test.
 */
export async function holdAnswers(serviceUrl: string, operation: OperationName): Promise<HeldAnswers> {
  const { path } = OPERATIONS[operation];
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const url = await startProxy((incoming, response) => {
    const isWithheld = incoming.url?.endsWith(path) === true;
    forward(serviceUrl, [incoming, response], isWithheld ? released : null);
  });
  return { url, release: () => release() };
}

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

/** Starts a proxy that forwards every request until `show`. The proxy ends with the test. */
export async function servePages(serviceUrl: string): Promise<PageInFront> {
  const answered: string[] = [];
  let isShown = false;
  const url = await startProxy((incoming, response) => {
    if (!isShown) return forward(serviceUrl, [incoming, response]);
    answered.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    incoming.on('end', () => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
  });
  return {
    url,
    show: () => void (isShown = true),
    hide: () => void (isShown = false),
    answered: () => answered,
  };
}
