import { OPERATIONS, type AnswerOf, type OperationName } from '../contracts/service/operations';
import type { SeenDifference } from '../domain/service/difference';
import { httpStatusOf, TOKEN_REFUSED, type Exchange } from '../domain/service/policy';
import { CREDENTIAL_RULE, isSendableCredential, type ServicePaths } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { OutboundSettings } from '../platform/config/config';
import type { Log } from '../platform/log/log';
import type {
  Budgets,
  CallOptions,
  CallResult,
  ServicePort,
  TokenCache,
  ViolationService,
  StoredToken,
} from '../workflow/service/service-port';
import { differenceOfAnswer } from '../workflow/service/differences';
import { callAddresses } from './addresses';
import { encode, type EncodedRequest } from './encode';
import { classify, droppedAfter, isUnauthorized, mayHaveLeft, type Classified, type EnvelopeCode } from './exchange';
import { createLimitWatch, type LimitWatchTools } from './limit-watch';
import { createPermits } from './permits';
import { harmlessRequest, optionsRequest, type Probe } from './probe';
import type { Contract } from './read-answer';
import { createTokenSource } from './token';
import { readToken } from './read-answer';
import { freshToken, noTokenAfter, withBoundedWait, type Renewed } from './token-renewal';
import { createTransport, type Authorization, type UploadLimits } from './transport';
import { TransportFailure } from './transport-failure';

export { accessDigest, accessDigests, callAddresses } from './addresses';
export type { Probe } from './probe';
export type { UploadLimits } from './transport';

export interface ServiceClient extends ServicePort, ViolationService {
  /** Calls an operation so that nothing can take effect. */
  probe(name: OperationName): Promise<Probe>;
  /** True when a valid token is available. */
  hasToken(): Promise<boolean>;
  /** Gets a token if none is available. Null on success, else the failure. */
  getToken(): Promise<Exchange | null>;
  /** Destroys all connections; calls under way end as unanswered. */
  close(): void;
}

/** An attempt of a call that may have reached the service. */
export interface ObservedCall {
  readonly operation: OperationName;
  readonly httpStatus: number | null;
  readonly durationMs: number;
  readonly body: string | null;
  /** The header `Date` of the answer. */
  readonly date: string | null;
}

export interface ServiceClientOptions {
  /** With its path prefix; paths are appended to it. */
  readonly baseUrl: string;
  /** What replaces the documented paths. */
  readonly paths?: ServicePaths;
  /** Directly, with the authorities of Node and no certificate of ours, by default. */
  readonly outbound?: OutboundSettings;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The deadline of every attempt without images, from the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  /** The limits of an attempt with images, by default 2 minutes in all and 10 s without progress. */
  readonly upload?: Partial<UploadLimits>;
  readonly envelopeCode?: EnvelopeCode;
  /** Reads heads of answers that break HTTP, as curl does, on one connection per call. False by default. */
  readonly readsLeniently?: boolean;
  readonly tokens: TokenCache;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  /** Counts rate limits. */
  readonly metrics?: LimitWatchTools['metrics'];
  /** False: rate limits that the service announces in headers are ignored. True by default. */
  readonly followsLimitHeaders?: boolean | undefined;
  /**
   * Called once per token call whose answer differs from its contract. Whether other answers keep theirs is
   * known to the caller alone: it depends on what was asked about.
   */
  readonly observeDifference?: (seen: SeenDifference) => void;
  /** Called for each attempt that may have reached the service; `httpStatus` and `body` are null without an answer. */
  readonly observe?: (seen: ObservedCall) => void;
  readonly userAgent?: string;
}

/** The operations table, typed so that the answer of an operation not known in advance keeps its type. */
const CONTRACTS: { readonly [N in OperationName]: Contract<AnswerOf<N>> } = {
  ...OPERATIONS,
  token: { ...OPERATIONS.token, read: readToken },
};

/**
 * The service, reached over HTTP: one path for all operations, driven by their table (contracts/service/operations.ts).
 *
 * Causes: `surely_not_sent`, `partly_sent` and `unanswered` carry the reason of a TransportFailure; `connection` carries
 * `token_refused` (a renewed token was refused too), `token_http_<status>`, `token_encoding_<name>` or
 * `token_contract_broken`. With `token_` before such a reason, or `token_http_<status>`, `surely_not_sent` is an outage of the token call.
 *
 * Throws an Error for an address or credentials that cannot be used; its text repeats neither.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const {
    clock,
    log,
    timeoutMs,
    upload,
    outbound,
    readsLeniently,
    envelopeCode = 'refusal',
    userAgent = 'towhook',
  } = options;
  const addressOf = callAddresses(options.baseUrl, options.paths ?? {});
  const transport = createTransport({ addressOf, timeoutMs, upload, outbound, readsLeniently, userAgent });
  const credentials = credentialHeaders(options);
  const tokenSource = createTokenSource({ ...options, fetchToken });
  const permitsOf = createPermits(options);
  const observed = createLimitWatch({ ...options, followsHeaders: options.followsLimitHeaders ?? true });

  const warnedOf = new Set<string>();
  /** Logs tolerated differences once per kind. They have no values, so there are few kinds. */
  const warnOnce = (operation: OperationName, differences: readonly string[]) => {
    const kind = [operation, ...differences].join('\n');
    if (warnedOf.has(kind)) return;
    warnedOf.add(kind);
    log.warn('service.answer_differs', { operation, differences });
  };

  /** Makes one call: a token if the operation needs one, an attempt, a second one after a 401, one log line. */
  async function perform<N extends OperationName>(
    name: N,
    request: EncodedRequest,
    callOptions: CallOptions,
  ): Promise<CallResult<N>> {
    const startedMs = clock.monotonicMs();
    const { stop, mayGoOn } = callOptions;
    const permits = permitsOf(OPERATIONS[name].budget, callOptions);
    let wasSent = false;
    const attempt = async (authorization: Authorization): Promise<Classified<AnswerOf<N>>> => {
      const denied = permits.startAttempt();
      if (denied) return { exchange: droppedAfter(denied), data: null, rawBody: null };
      const permission = () => permits.take();
      const sentMs = clock.monotonicMs();
      const outcome = await transport.send(request, { name, authorization, permission, stop, mayGoOn });
      permits.endAttempt();
      wasSent ||= mayHaveLeft(outcome);
      if (mayHaveLeft(outcome)) {
        const answer = outcome instanceof TransportFailure ? null : outcome;
        const durationMs = clock.monotonicMs() - sentMs;
        options.observe?.({
          operation: name,
          httpStatus: answer?.status ?? null,
          durationMs,
          body: answer?.text ?? null,
          date: answer?.headers.date ?? null,
        });
      }
      const classified = classify(CONTRACTS[name], outcome, { nowMs: clock.nowMs(), envelopeCode });
      if (outcome instanceof TransportFailure) return classified;
      const { exchange } = classified;
      const bounded = name === 'token' ? withBoundedWait(exchange, clock.nowMs()) : exchange;
      return { ...classified, exchange: await observed(OPERATIONS[name].budget, outcome, bounded) };
    };
    const { exchange, ...made } = await (name === 'token' ? attempt(credentials) : withToken(attempt));
    if (exchange.kind === 'accepted' && exchange.differences) warnOnce(name, exchange.differences);
    const difference = name === 'token' ? differenceOfAnswer(name, { exchange, rawBody: made.rawBody }) : null;
    if (difference) options.observeDifference?.(difference);
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    log.debug('service.called', {
      operation: name,
      http_status: httpStatusOf(exchange),
      duration_ms: durationMs,
      exchange: exchange.kind,
    });
    return {
      exchange,
      data: made.data,
      // The body of the token call contains the token.
      rawBody: name === 'token' ? null : made.rawBody,
      wasSent,
      isPermitSpent: wasSent || permits.isExchanged(),
      durationMs,
    };
  }

  async function withToken<T>(attempt: (authorization: Authorization) => Promise<Classified<T>>) {
    const first = await tokenSource.current();
    if (!first.ok) return { exchange: first.exchange, data: null, rawBody: null };
    const made = await attempt(bearer(first.token.token));
    if (!isUnauthorized(made.exchange)) return made;
    const second = await tokenSource.replace(first.token.token);
    if (!second.ok) return { ...made, exchange: second.exchange };
    const again = await attempt(bearer(second.token.token));
    if (!isUnauthorized(again.exchange)) return again;
    const { notBeforeMs } = again.exchange;
    return { ...again, exchange: { kind: 'connection', cause: TOKEN_REFUSED, notBeforeMs } as const };
  }

  async function fetchToken(): Promise<Renewed> {
    const { exchange, data } = await perform('token', encode(OPERATIONS.token, null), {});
    return data === null ? noTokenAfter(exchange) : { ok: true, token: freshToken(data, clock.nowMs()) };
  }

  return {
    async call(name, request, callOptions = {}) {
      const result = await perform(name, encode(OPERATIONS[name], request), callOptions);
      // A token that was requested by name may be the only one that the service still accepts.
      const token = name === 'token' ? OPERATIONS.token.answer.safeParse(result.data).data : undefined;
      if (token) await tokenSource.adopt(freshToken(token, clock.nowMs()));
      return result;
    },
    submitViolation(name, { form, metadataText, images }, callOptions = {}) {
      const asSent = metadataText === undefined ? form : Object.assign({}, form, { metadata: metadataText });
      return perform(name, encode(OPERATIONS[name], asSent, images), callOptions);
    },
    async probe(name) {
      const request = harmlessRequest(name);
      if (request !== null) {
        const { exchange } = await perform(name, encode(OPERATIONS[name], request), {});
        return { kind: 'call', exchange };
      }
      const { exchange } = await perform(name, optionsRequest('here'), {});
      const { exchange: elsewhere } = await perform(name, optionsRequest('elsewhere'), {});
      return { kind: 'options', exchange, elsewhere };
    },
    hasToken: () => tokenSource.isAtHand(),
    async getToken() {
      const token = await tokenSource.current();
      return token.ok ? null : token.exchange;
    },
    close: () => transport.close(),
  };
}

function bearer(token: string): Authorization {
  return { Authorization: `Bearer ${token}` };
}

// Open question Q21: other ways to authenticate are not documented; the client id and secret travel in their headers.
function credentialHeaders({ clientId, clientSecret }: ServiceClientOptions): Authorization {
  const headers = { 'X-Client-Id': clientId, 'X-Client-Secret': clientSecret };
  for (const [name, value] of Object.entries(headers)) {
    if (!isSendableCredential(value)) throw new Error(`${name} ${CREDENTIAL_RULE}`);
  }
  return headers;
}

/** A token cache within one process, for tools and tests. It behaves like the shared one, without durability. */
export function createMemoryTokenCache(clock: Pick<Clock, 'monotonicMs'>): TokenCache {
  let stored: StoredToken | null = null;
  let lock: { readonly holder: string; readonly endsAtMs: number } | null = null;
  return {
    async read() {
      return stored;
    },
    async tryLock(holder, ttlMs) {
      const nowMs = clock.monotonicMs();
      if (lock !== null && lock.holder !== holder && nowMs < lock.endsAtMs) return false;
      lock = { holder, endsAtMs: nowMs + ttlMs };
      return true;
    },
    async write(token) {
      stored = token;
    },
    async unlock(holder) {
      if (lock?.holder === holder) lock = null;
    },
  };
}
