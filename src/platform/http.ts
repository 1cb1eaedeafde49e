import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from './clock';
import { recentAnswer } from './recent-answer';

/** How long requests may take to end when a listener stops; none of ours takes longer. */
export const LISTENER_GRACE_MS = 3000;
/** How long an answer of `/readyz` serves further requests. */
const READINESS_KEPT_MS = 1000;

/** What clients may take of a listener. */
export interface Limits {
  /** From the first byte of a request, or the opening of its connection, to the last byte of its headers. */
  readonly headersMs: number;
  /** To the last byte of its body. The answer may take longer. */
  readonly requestMs: number;
  /** How often requests that take too long are looked for; so much later at most they are ended. */
  readonly checkEveryMs: number;
  readonly connections: number;
}

/** Wide enough for images from a slow phone. */
const LIMITS: Limits = { headersMs: 10_000, requestMs: 120_000, checkEveryMs: 2000, connections: 2000 };
/**
 * A request has few headers. One with more is refused: Node drops the last ones, among them what a proxy adds behind those of
 * the client, such as X-Forwarded-For.
 */
const HEADERS_MAX = 100;
/** Longer than a load balancer's idle timeout, so that it never sends into a connection that is being closed. */
const KEEP_ALIVE_MS = 65_000;

/** A running listener. */
export interface Listener {
  readonly host: string;
  /** The port it really has, also when 0 was asked for. */
  readonly port: number;
  /** `http://host:port`. */
  readonly url: string;
  /** Stops taking connections, lets running requests end, and cuts what is still open after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Whether a process lives and whether it can do its work; `details` say why not. */
export interface Health {
  /** Asked at most once a second, however many requests there are. Changes nothing. */
  ready(): Promise<{ ready: boolean; details: Readonly<Record<string, unknown>> }>;
  /** Prometheus text; only on listeners that are private. */
  metrics?: () => Promise<{ contentType: string; text: string }>;
}

/** An Express application, as far as a listener cares. */
export type Application = RequestListener & { request: object; response: object };

/**
 * Starts a listener on `host:port` (0 = any free port). `/healthz`, `/readyz` and, where given, `/metrics` are answered
 * before the application sees the request.
 */
export async function listen(
  application: Application | null,
  health: Health,
  address: { host: string; port: number },
  limits: Partial<Limits> = {},
): Promise<Listener> {
  const answering = {
    ...health,
    ready: recentAnswer(() => health.ready(), { keptMs: READINESS_KEPT_MS, clock: systemClock }),
  };
  const { headersMs, requestMs, checkEveryMs, connections } = { ...LIMITS, ...limits };
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: checkEveryMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      ...(application ? fastClasses(application) : {}),
    },
    healthFirst(application, answering),
  );
  server.maxConnections = connections;
  server.maxHeadersCount = HEADERS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = boundAddress(server);
  const urlHost = address.host.includes(':') ? `[${address.host}]` : address.host;
  let isStopping = false;
  server.prependListener('request', (_request, response: ServerResponse) => {
    // A caller that keeps its connection would hold a stopping server until the grace is over.
    response.once('finish', () => {
      if (isStopping) setImmediate(() => server.closeIdleConnections());
    });
  });
  return {
    host: address.host,
    port,
    url: `http://${urlHost}:${port}`,
    stop: (graceMs) => {
      isStopping = true;
      return stop(server, graceMs);
    },
  };
}

/**
 * Express sets the prototypes of every request and response, which costs Node 20 most of Express's time. A server whose
 * own classes already carry those prototypes makes that a no-op.
 */
function fastClasses(application: Application) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  Object.setPrototypeOf(Request.prototype, application.request);
  Object.setPrototypeOf(Response.prototype, application.response);
  application.request = Request.prototype;
  application.response = Response.prototype;
  return { IncomingMessage: Request, ServerResponse: Response };
}

const TOO_MANY_HEADERS = `{"code":"too_many_headers","message":"A request has ${HEADERS_MAX} headers at most.","details":[]}`;

function healthFirst(application: RequestListener | null, health: Health): RequestListener {
  return (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0];
    if (request.rawHeaders.length > 2 * HEADERS_MAX) {
      response.shouldKeepAlive = false;
      answer(response, 431, 'application/json', TOO_MANY_HEADERS);
    } else if (path === '/healthz') {
      answer(response, 200, 'application/json', '{"status":"alive"}');
    } else if (path === '/readyz') {
      void answerReady(response, health);
    } else if (path === '/metrics' && health.metrics) {
      void answerMetrics(response, health.metrics);
    } else if (application) {
      application(request, response);
    } else {
      answer(response, 404, 'application/json', '{"code":"not_found","message":"No such address.","details":[]}');
    }
  };
}

async function answerReady(response: ServerResponse, health: Health): Promise<void> {
  try {
    const { ready, details } = await health.ready();
    const status = ready ? 'ready' : 'not_ready';
    answer(response, ready ? 200 : 503, 'application/json', JSON.stringify({ status, ...details }));
  } catch {
    answer(response, 503, 'application/json', '{"status":"not_ready"}');
  }
}

async function answerMetrics(response: ServerResponse, metrics: NonNullable<Health['metrics']>): Promise<void> {
  try {
    const { contentType, text } = await metrics();
    answer(response, 200, contentType, text);
  } catch {
    answer(response, 500, 'text/plain', 'metrics could not be read');
  }
}

function answer(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(body);
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

function boundAddress(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the listener has no port');
  return address;
}
