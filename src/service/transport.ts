import { Agent as PlainAgent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { Readable } from 'node:stream';
import { Axios, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import type { Operation } from '../contracts/operations';
import { runAttempt, type Answer, type AttemptPlan } from './attempt';
import type { EncodedRequest } from './encode';
import { TransportFailure } from './transport-failure';

/** The headers that identify the caller: a bearer token, or the credentials. */
export type Authorization = Readonly<Record<string, string>>;

/** Sends encoded requests to one service. */
export interface Transport {
  /**
   * Makes one attempt. Resolves with the answer for any status that arrived, with a TransportFailure when none did.
   * Redirects and proxies are not followed. Rejects only for a fault of this program.
   */
  send(
    request: EncodedRequest,
    options: {
      readonly operation: Operation;
      readonly authorization: Authorization;
      readonly permission: AttemptPlan['permission'];
    },
  ): Promise<Answer | TransportFailure>;
  /** Destroys all connections, including those in use. */
  close(): void;
}

/** Answers of the service are small; a longer one comes from something else. */
const ANSWER_BYTES_MAX = 256 * 1024;
const CONNECT_TIMEOUT_MAX_MS = 5_000;
/** Idle connections are closed before a load balancer closes them; sooner if the server's `Keep-Alive` header asks for it. */
const IDLE_CONNECTION_MS = 15_000;

/**
 * Opens no connection before the first call. `timeoutMs` is the deadline of every attempt.
 * Throws an Error for a base address that cannot be used; its text does not repeat the address.
 */
export function createTransport(settings: {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly userAgent: string;
}): Transport {
  const { timeoutMs } = settings;
  const address = parseServiceAddress(settings.baseUrl);
  const Agent = address.secure ? SecureAgent : PlainAgent;
  const keepAlive = new Agent({ keepAlive: true, scheduling: 'lifo', timeout: IDLE_CONNECTION_MS });
  const fresh = new Agent({ keepAlive: false });
  const ownHeaders = { Accept: 'application/json', 'User-Agent': settings.userAgent };
  // The class without defaults: the ready-made instance adds headers to every call, transforms bodies, and spends more
  // time on merging its defaults than node:http spends on the call.
  const client = new Axios({});

  const attempt = async (
    config: InternalAxiosRequestConfig,
    options: { agent: PlainAgent | SecureAgent; permission: AttemptPlan['permission'] },
  ): Promise<AxiosResponse<Answer>> => {
    const { status, ...rest } = await runAttempt({
      secure: address.secure,
      options: {
        agent: options.agent,
        host: address.host,
        port: address.port,
        method: (config.method ?? 'get').toUpperCase(),
        path: address.prefix + (config.url ?? ''),
        headers: sentHeaders(config.headers.toJSON()),
      },
      body: bodyOf(config.data),
      bodyBytes: Number(config.headers['Content-Length'] ?? 0),
      timeoutMs,
      connectTimeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MAX_MS),
      answerBytesMax: ANSWER_BYTES_MAX,
      permission: options.permission,
    });
    // The headers stay in the answer, because axios copies every header it is given.
    return { status, statusText: '', headers: {}, data: { status, ...rest }, config };
  };

  return {
    async send(request, { operation, authorization, permission }) {
      // A server may close an idle connection at the moment we write into it, and then it is unknown whether the call
      // took effect. For an idempotent call that is an unanswered attempt like any other; a call that must not be
      // repeated gets a connection of its own. So does the token call: it is rare, so an idle connection would mostly
      // be closed.
      const isFresh = !operation.safeToRepeat || operation.encoding === 'credentials';
      const agent = isFresh ? fresh : keepAlive;
      try {
        const { headers, data } = await request.open();
        const response = await client.request<Answer>({
          method: request.method,
          url: request.path,
          data,
          headers: { ...ownHeaders, ...headers, ...authorization },
          adapter: (config) => attempt(config, { agent, permission }),
        });
        return response.data;
      } catch (error) {
        if (error instanceof TransportFailure) return error;
        throw error;
      }
    },
    close() {
      keepAlive.destroy();
      fresh.destroy();
    },
  };
}

function sentHeaders(headers: Readonly<Record<string, unknown>>): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string') sent[name] = value;
  }
  return sent;
}

function bodyOf(data: unknown): string | Readable | null {
  if (typeof data === 'string' || data instanceof Readable) return data;
  if (data === undefined || data === null) return null;
  throw new TypeError('a request body must be text or a stream');
}

interface ServiceAddress {
  readonly secure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Put before every path exactly as configured; no trailing slash. */
  readonly prefix: string;
}

/**
 * Splits the base address of the service. Paths are appended to it, so its prefix is taken as text: resolving it as a
 * URL would fold dots, drop double slashes and re-encode characters that the service may mean (service-api 9).
 * Throws an Error that does not repeat the address, because people paste credentials into addresses.
 */
function parseServiceAddress(baseUrl: string): ServiceAddress {
  const match = /^(https?):\/\/([^/?#@\\]+)(\/[\x21-\x7e]*)?$/i.exec(baseUrl.trim());
  const prefix = match?.[3] ?? '';
  if (!match || /[?#]/.test(prefix)) {
    throw new Error(
      'the base address of the service must be http(s)://host[:port][/prefix], without credentials, query or fragment',
    );
  }
  const secure = match[1]?.toLowerCase() === 'https';
  const authority = parseAuthority(`${secure ? 'https' : 'http'}://${match[2]}`);
  return {
    secure,
    host: authority.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: authority.port === '' ? (secure ? 443 : 80) : Number(authority.port),
    prefix: prefix.endsWith('/') ? prefix.slice(0, -1) : prefix,
  };
}

function parseAuthority(origin: string): URL {
  try {
    return new URL(origin);
  } catch {
    throw new Error('the base address of the service names no valid host and port');
  }
}
