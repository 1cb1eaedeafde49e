import { Readable } from 'node:stream';
import { Axios, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios';
import { OPERATIONS, type OperationName } from '../contracts/service/operations';
import type { OutboundSettings } from '../platform/config/config';
import type { CallAddress } from './addresses';
import { runAttempt, type HttpAnswer, type AttemptPlan } from './attempt';
import type { EncodedRequest } from './encode';
import { TransportFailure } from './transport-failure';
import { openOutbound, type Agents } from './outbound';

/** The headers that identify the caller: a bearer token, or the credentials. */
export type Authorization = Readonly<Record<string, string>>;

type RightToSend = Pick<AttemptPlan, 'permission' | 'stop' | 'mayGoOn'>;

/** Sends encoded requests to the service. */
export interface Transport {
  /**
   * Makes one attempt. Resolves with the answer for any status that arrived, with a TransportFailure when none did.
   * Redirects are not followed. Rejects only for a fault of this program.
   */
  send(
    request: EncodedRequest,
    options: RightToSend & {
      /** Its address receives the authorization; no other does, since redirects are not followed. */
      readonly name: OperationName;
      readonly authorization: Authorization;
    },
  ): Promise<HttpAnswer | TransportFailure>;
  /** Destroys all connections, including those in use. */
  close(): void;
}

/** The limit of Node is 16 KiB, which gateways with many cookies and policies exceed. */
const ANSWER_HEAD_BYTES_MAX = 64 * 1024;
/** Answers of the service are small; a longer one comes from something else. */
const ANSWER_BYTES_MAX = 256 * 1024;
const CONNECT_TIMEOUT_MAX_MS = 5_000;
/** Idle connections are closed before a load balancer closes them; sooner if the server's `Keep-Alive` header asks for it. */
const IDLE_CONNECTION_MS = 15_000;
/** Servers keep an idle connection for longer: that of Node for 5 s, most others for more. */
const SURELY_OPEN_MS = 1000;

interface AttemptOptions extends RightToSend {
  readonly address: CallAddress;
  readonly agents: Agents;
  readonly headers: Readonly<Record<string, string>>;
  readonly isUpload: boolean;
}

/** The deadline of a call with images runs by progress. */
export interface UploadLimits {
  /** From the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The longest time without a byte sent or received. */
  readonly silenceMs: number;
}

const UPLOAD_LIMITS: UploadLimits = { timeoutMs: 120_000, silenceMs: 10_000 };

/**
 * Opens no connection before the first call. `timeoutMs` is the deadline of every attempt without images.
 * @throws ConfigurationError for a file that cannot be used.
 */
export function createTransport(settings: {
  readonly addressOf: (name: OperationName) => CallAddress;
  readonly timeoutMs: number;
  readonly upload?: Partial<UploadLimits> | undefined;
  readonly outbound?: OutboundSettings | undefined;
  readonly readsLeniently?: boolean | undefined;
  readonly userAgent: string;
}): Transport {
  const { addressOf, timeoutMs } = settings;
  const upload = { ...UPLOAD_LIMITS, ...settings.upload };
  const connectTimeoutMs = Math.min(timeoutMs, CONNECT_TIMEOUT_MAX_MS);
  const outbound = openOutbound(settings.outbound, { connectTimeoutMs });
  const { readsLeniently = false } = settings;
  // Where an answer ends that breaks HTTP is a guess, and its rest must not count as the answer to the next call.
  const keepAlive = !readsLeniently;
  const kept = outbound({ keepAlive, scheduling: 'lifo', timeout: IDLE_CONNECTION_MS });
  const surelyOpen = outbound({ keepAlive, scheduling: 'lifo', timeout: SURELY_OPEN_MS });
  // Without the word `identity` a gateway may compress answers, which only takes time.
  const ownHeaders = {
    Accept: 'application/json',
    'Accept-Encoding': 'identity',
    'User-Agent': settings.userAgent,
  };
  // The class without defaults: the ready-made instance adds headers to every call, transforms bodies, and spends more
  // time on merging its defaults than node:http spends on the call.
  const client = new Axios({});

  const attempt = async (
    config: InternalAxiosRequestConfig,
    { address, agents, headers, isUpload, ...right }: AttemptOptions,
  ): Promise<AxiosResponse<HttpAnswer>> => {
    const { secure, host, port } = address;
    const answer = await runAttempt({
      secure,
      options: {
        protocol: secure ? 'https:' : 'http:',
        agent: secure ? agents.secure : agents.plain,
        host,
        port,
        method: (config.method ?? 'get').toUpperCase(),
        path: config.url ?? '/',
        headers,
        maxHeaderSize: ANSWER_HEAD_BYTES_MAX,
        insecureHTTPParser: readsLeniently,
      },
      body: bodyOf(config.data),
      bodyBytes: Number(headers['Content-Length'] ?? 0),
      timeoutMs: isUpload ? upload.timeoutMs : timeoutMs,
      silenceMs: isUpload ? upload.silenceMs : null,
      connectTimeoutMs,
      answerBytesMax: ANSWER_BYTES_MAX,
      ...right,
    });
    return { status: answer.status, statusText: '', headers: {}, data: answer, config };
  };

  return {
    async send(request, { name, authorization, ...right }) {
      const operation = OPERATIONS[name];
      const address = addressOf(name);
      // A server may close an idle connection at the moment we write into it, and then it is unknown whether the call
      // took effect. For a call that is safe to repeat that is an unanswered attempt like any other. A call that must not
      // be repeated uses a connection that was just used, or a new one. So does the token call: it is rare, so an idle
      // connection would mostly be closed.
      const agents = operation.safeToRepeat && operation.encoding !== 'credentials' ? kept : surelyOpen;
      try {
        const { headers: bodyHeaders, data } = await request.open();
        // Not handed to axios, which would merge, copy and normalize them several times per call.
        const headers = { ...ownHeaders, ...bodyHeaders, ...authorization };
        const response = await client.request<HttpAnswer>({
          method: request.method,
          url: address.path + request.query,
          data,
          adapter: (config) => attempt(config, { address, agents, headers, isUpload: request.isUpload, ...right }),
        });
        return response.data;
      } catch (error) {
        if (error instanceof TransportFailure) return error;
        throw error;
      }
    },
    close() {
      for (const agents of [kept, surelyOpen]) {
        agents.secure.destroy();
        agents.plain.destroy();
      }
    },
  };
}

function bodyOf(data: unknown): string | Readable | null {
  if (typeof data === 'string' || data instanceof Readable) return data;
  if (data === undefined || data === null) return null;
  throw new TypeError('a request body must be text or a stream');
}
