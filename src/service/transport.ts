import { Agent as PlainAgent, type IncomingHttpHeaders } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { Readable } from 'node:stream';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import type { ServiceAddress } from './address';
import { runAttempt, type Answer, type AttemptPlan } from './attempt';

/** The body of an answer as text, and how it ended. */
export type Received = Pick<Answer, 'text' | 'ended'>;

/** What a single attempt may do. */
export interface SendOptions {
  /** Never ride on a connection that was used before. */
  readonly freshConnection: boolean;
  readonly permission: AttemptPlan['permission'];
}

/** A lean transport under axios, bound to one service: axios keeps the configuration, this moves the bytes. */
export interface Transport {
  /**
   * An axios adapter's work. `config.url` is the path with its query, appended to the address as it is; redirects and
   * proxies are not followed. Resolves with any status that arrived; rejects with a TransportFailure.
   */
  send(config: InternalAxiosRequestConfig, options: SendOptions): Promise<AxiosResponse<Received>>;
  /** Destroys all connections, also those in use. */
  close(): void;
}

/** Answers of the service are small; one that is longer is not the service's. */
const ANSWER_BYTES_MAX = 256 * 1024;
const CONNECT_TIMEOUT_MAX_MS = 5_000;
/** Idle connections are closed before a load balancer does it; sooner where the server's `Keep-Alive` header says so. */
const IDLE_CONNECTION_MS = 15_000;

/** Opens no connection before the first call. */
export function createTransport(settings: { address: ServiceAddress; timeoutMs: number }): Transport {
  const { address, timeoutMs } = settings;
  const Agent = address.secure ? SecureAgent : PlainAgent;
  const keptAlive = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_CONNECTION_MS });
  const fresh = new Agent({ keepAlive: false });
  return {
    async send(config, options) {
      const body = bodyOf(config.data);
      const { status, headers, text, ended } = await runAttempt({
        secure: address.secure,
        options: {
          agent: options.freshConnection ? fresh : keptAlive,
          host: address.host,
          port: address.port,
          method: (config.method ?? 'get').toUpperCase(),
          path: address.prefix + (config.url ?? ''),
          headers: sentHeaders(config.headers.toJSON()),
        },
        body,
        bodyBytes: Number(config.headers['Content-Length'] ?? 0),
        timeoutMs,
        connectTimeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MAX_MS),
        answerBytesMax: ANSWER_BYTES_MAX,
        permission: options.permission,
      });
      return { status, statusText: '', headers: readHeaders(headers), data: { text, ended }, config };
    },
    close() {
      keptAlive.destroy();
      fresh.destroy();
    },
  };
}

/** Only what the client reads: axios copies every header it is given. */
const HEADERS_READ = ['content-type', 'retry-after', 'x-ratelimit-reset'] as const;

function readHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name of HEADERS_READ) {
    const value = headers[name];
    if (typeof value === 'string') read[name] = value;
  }
  return read;
}

function sentHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') sent[name] = value;
  return sent;
}

function bodyOf(data: unknown): string | Readable | null {
  if (typeof data === 'string' || data instanceof Readable) return data;
  if (data === undefined || data === null) return null;
  throw new TypeError('a request body must be text or a stream');
}
