import { createServer, IncomingMessage, ServerResponse, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock } from './clock';
import { isAnswering, limitConnections, type ClosedConnection, type ConnectionLimits } from './connections';
import { errorCode } from './errors';

/** How long running requests may take when a listener stops; no request of towhook takes longer. */
export const LISTENER_GRACE_MS = 3000;
/** How long a result of `/readyz` is reused. */
const READINESS_KEPT_MS = 1000;

/** Limits on the clients of a listener. */
export interface ListenerLimits extends ConnectionLimits {
  /** From the opening of the connection or the first byte of a request to the last byte of its headers. */
  readonly headersMs: number;
  /** From there to the last byte of the request body. The response may take longer. */
  readonly requestMs: number;
  /** How often the two limits are checked; a request may exceed them by this much. */
  readonly checkEveryMs: number;
}

/** How long the body of a request may take on a listener without a limit of its own. */
export const REQUEST_MS = 120_000;
const LIMITS: ListenerLimits = {
  headersMs: 10_000,
  requestMs: REQUEST_MS,
  checkEveryMs: 2000,
  connections: 2000,
  connectionsPerSource: 500,
};
/**
 * A request with more headers is refused. Beyond a limit of its own, Node 20 and 22 drop the last ones, which are those
 * that a proxy adds, such as X-Forwarded-For, and Node 24 refuses without an explanation.
 */
const HEADERS_MAX = 100;
/** How long a listener counts as crowded after it closed a connection for another one. */
const CROWDED_MS = 60_000;

/** How often a stopping listener closes the connections that have become idle. */
const SWEEP_EVERY_MS = 20;

/** A running listener. */
export interface Listener {
  readonly host: string;
  /** The bound port, also when port 0 was requested. */
  readonly port: number;
  /** `http://host:port`. */
  readonly url: string;
  /** True for a minute after it closed a connection because there were too many. */
  isCrowded(): boolean;
  /** From now on `/readyz` answers 503, and each connection closes after its next answer. Requests are still served. */
  announceEnd(): void;
  /** Refuses new connections, waits for running requests and closes all connections after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Whether a process, or something that it needs, is ready; `details` name the reasons. */
export type ReadinessCheck = () => Promise<{ ready: boolean; details: Readonly<Record<string, unknown>> }>;

/** The health of a process, as its listeners report it. */
export interface Health {
  /** Called at most once a second, without side effects. */
  ready: ReadinessCheck;
  /** Prometheus text; only on private listeners. */
  metrics?: () => Promise<{ contentType: string; text: string }>;
}

/** What a listener reports. */
export interface ListenerEvents {
  /** A connection could not be accepted, for example because the machine has too many open files. */
  readonly acceptFailed?: (error: Error) => void;
  /** A connection was closed because there were too many. */
  readonly crowded?: (closed: ClosedConnection) => void;
  /**
   * A call was refused before the application saw it: a POST with too many headers, or what Node could not read as a
   * request, whose path is then null.
   */
  readonly refused?: (httpStatus: number, path: string | null) => void;
}

/** The part of an Express application that a listener uses. */
export type Application = RequestListener & { request: object; response: object; get(setting: string): unknown };

/**
 * Starts a listener on `host:port` (0 = any free port). It answers `/healthz`, `/readyz` and, if given, `/metrics` itself
 * and passes other requests, and each POST, to the application.
 */
export async function listen(
  application: Application | null,
  health: Health,
  address: { host: string; port: number },
  limits: Partial<ListenerLimits> = {},
  events: ListenerEvents = {},
): Promise<Listener> {
  const reusing = { ...health, ready: reuseFor(READINESS_KEPT_MS, () => health.ready()) };
  const { headersMs, requestMs, checkEveryMs, ...connectionLimits } = { ...LIMITS, ...limits };
  let isEnding = false;
  let crowdedAtMs = -Infinity;
  const server = createServer({
    headersTimeout: headersMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: checkEveryMs,
    ...(application ? messageClasses(application) : {}),
  });
  const trusts = application?.get('trust proxy fn');
  const used = limitConnections(server, connectionLimits, {
    isTrusted: (address) => typeof trusts === 'function' && Reflect.apply(trusts, null, [address, 0]) === true,
    closed(connection) {
      crowdedAtMs = systemClock.monotonicMs();
      events.crowded?.(connection);
    },
  });
  server.on('request', healthFirst(application, reusing, { isEnding: () => isEnding, refused: events.refused, used }));
  if (events.refused) reportUnread(server, events.refused);
  server.maxHeadersCount = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(address.port, address.host, () => {
      server.off('error', reject);
      // Without a listener, the error would end the process. The server goes on with the next connection.
      server.on('error', (error) => events.acceptFailed?.(error));
      resolve();
    });
  });
  const { port } = boundAddress(server);
  const urlHost = address.host.includes(':') ? `[${address.host}]` : address.host;
  return {
    host: address.host,
    port,
    url: `http://${urlHost}:${port}`,
    isCrowded: () => systemClock.monotonicMs() - crowdedAtMs < CROWDED_MS,
    announceEnd: () => {
      isEnding = true;
    },
    stop: (graceMs) => {
      isEnding = true;
      return stop(server, graceMs);
    },
  };
}

/**
 * Classes whose instances already have the prototypes of the application, so that Express does not change them per
 * request. On Node 20 that change costs most of the time that Express takes: `npm run bench -- accept` shows it.
 * Remove this when Express no longer calls `setPrototypeOf` per request (lib/application.js, `handle`).
 */
function messageClasses(application: Application) {
  class Request extends IncomingMessage {}
  class Response extends ServerResponse {}
  Object.setPrototypeOf(Request.prototype, application.request);
  Object.setPrototypeOf(Response.prototype, application.response);
  application.request = Request.prototype;
  application.response = Response.prototype;
  return { IncomingMessage: Request, ServerResponse: Response };
}

/** Bodies come in pieces of a kilobyte and more. Each piece takes about 2 µs, also one of a single byte. */
const SMALL_PIECE_BYTES = 64;
/** A program that writes its JSON without a buffer sends each token as a piece. */
const SMALL_PIECES_MAX = 1000;

/**
 * Closes the connection of a chunked body that comes in many small pieces, and of one that is not complete when its answer
 * is sent: Node would read the rest of it, however long.
 */
function refuseSmallPieces(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['transfer-encoding'] === undefined) return;
  let smallPieces = 0;
  request.push = (piece: unknown, encoding?: BufferEncoding) => {
    // Node still hands over the pieces of what it has read already.
    if (request.destroyed || request.socket.destroyed) return false;
    if (Buffer.isBuffer(piece) && piece.length < SMALL_PIECE_BYTES) smallPieces += 1;
    if (smallPieces <= SMALL_PIECES_MAX) return IncomingMessage.prototype.push.call(request, piece, encoding);
    request.socket.destroy();
    return false;
  };
  response.once('finish', () => {
    if (!request.complete) request.socket.destroySoon();
  });
}

/** Calls `read` at most once per `keptMs` and never twice at once; callers share its result, also a failure. */
function reuseFor<T>(keptMs: number, read: () => Promise<T>): () => Promise<T> {
  let last: { readonly result: Promise<T>; readonly readAtMs: number; isRunning: boolean } | null = null;
  return () => {
    if (last !== null && (last.isRunning || systemClock.monotonicMs() - last.readAtMs < keptMs)) return last.result;
    const reading = { result: read(), readAtMs: systemClock.monotonicMs(), isRunning: true };
    const settled = () => {
      reading.isRunning = false;
    };
    reading.result.then(settled, settled);
    last = reading;
    return reading.result;
  };
}

const TOO_MANY_HEADERS = `{"code":"too_many_headers","message":"A request has ${HEADERS_MAX} headers at most.","details":[]}`;

/** Reports what Node refuses and answers itself. Without its event `clientError`, which would replace that answer. */
function reportUnread(server: Server, refused: NonNullable<ListenerEvents['refused']>): void {
  server.on('connection', (socket) => {
    socket.on('error', (error) => {
      const httpStatus = statusOfUnread(errorCode(error));
      // Set while the application has a request of this connection: it sees for itself that the body cannot be read.
      // A load balancer may open connections in advance.
      if (httpStatus !== null && !isAnswering(socket) && socket.bytesRead > 0) refused(httpStatus, null);
    });
  });
}

/** What Node answers to a request that it cannot read (`socketOnError` in its lib/_http_server.js); null for none. */
function statusOfUnread(code: string | null): number | null {
  if (code === null) return null;
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431;
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408;
    // The sender closed the connection.
    case 'HPE_INVALID_EOF_STATE':
      return null;
    default:
      return code.startsWith('HPE_') ? 400 : null;
  }
}

function healthFirst(
  application: RequestListener | null,
  health: Health,
  tools: {
    readonly isEnding: () => boolean;
    readonly refused: ListenerEvents['refused'];
    readonly used: (connection: Socket) => void;
  },
): RequestListener {
  const { isEnding, refused, used } = tools;
  return (request, response) => {
    used(request.socket);
    refuseSmallPieces(request, response);
    if (isEnding()) response.shouldKeepAlive = false;
    // A POST may be a webhook: its sender would take the answer of a probe for that of the application.
    const path = request.method === 'POST' ? null : (request.url ?? '').split('?', 1)[0];
    if (request.rawHeaders.length > 2 * HEADERS_MAX) {
      response.shouldKeepAlive = false;
      answer(response, 431, 'application/json', TOO_MANY_HEADERS);
      if (path === null) refused?.(431, (request.url ?? '').split('?', 1)[0] ?? null);
    } else if (path === '/healthz') {
      answer(response, 200, 'application/json', '{"status":"alive"}');
    } else if (path === '/readyz' && isEnding()) {
      answer(response, 503, 'application/json', '{"status":"stopping"}');
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

/**
 * Sends a value as JSON. `json()` of Express also computes freshness and charset, which takes time for nothing. Headers
 * that are given with the status are written without being kept first.
 */
export function sendJson(response: ServerResponse, httpStatus: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(httpStatus, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}

function answer(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(body);
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    // The connections of requests that run now stay open after their answers. A listener on each answer would cost every
    // request time.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_EVERY_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
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
