import { OPERATIONS, type AnswerOf, type OperationName, type RequestOf } from '../contracts/operations';
import { TOKEN_REFUSED } from '../domain/policy';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Budgets, CallOptions, CallResult, ServicePort, TokenCache } from '../workflow/service-port';
import { encode, type EncodedRequest, type ViolationImage } from './encode';
import { classify, httpStatusOf, isUnauthorized, mayHaveLeft, type Classified } from './exchange';
import { createPermits } from './permits';
import type { Contract } from './read-answer';
import { createTokenSource } from './token';
import { freshToken, noTokenAfter, withBoundedWait, type Renewed, type WithoutToken } from './token-renewal';
import { createTransport, type Authorization } from './transport';

export { createMemoryTokenCache } from './memory-token-cache';
export type { ViolationImage } from './encode';

/** The two ways to create a violation; which one is current is not shown (service-api 4.5). */
export type ViolationOperation = 'violation' | 'violation_guide';

/** A violation with its images; the form alone can be sent with `call`. */
export interface ViolationSubmission<N extends ViolationOperation> {
  readonly form: RequestOf<N>;
  /** Sent as the field `metadata` in place of the form's own, letter by letter. */
  readonly metadataText?: string | undefined;
  readonly images: readonly ViolationImage[];
}

export interface ServiceClient extends ServicePort {
  /** Reports a violation with its images; like `call` in everything else. */
  submitViolation<N extends ViolationOperation>(
    name: N,
    submission: ViolationSubmission<N>,
    options?: CallOptions,
  ): Promise<CallResult<N>>;
  /** See ViolationService. */
  hasToken(): Promise<boolean>;
  /** See ViolationService. */
  getToken(): Promise<WithoutToken | null>;
  /** Destroys all connections; calls under way end as unanswered. */
  close(): void;
}

export interface ServiceClientOptions {
  /** With its path prefix; paths are appended to it. */
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The deadline of every attempt, from the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly tokens: TokenCache;
  readonly budgets: Budgets;
  readonly clock: Clock;
  readonly log: Log;
  readonly userAgent?: string;
}

/** The operations table, typed so that the answer of an operation not known in advance keeps its type. */
const CONTRACTS: { readonly [N in OperationName]: Contract<AnswerOf<N>> } = OPERATIONS;

/**
 * The service, reached over HTTP: one path for all operations, driven by their table (contracts/operations.ts).
 *
 * Causes: `surely_not_sent` and `unanswered` carry a word of transport-failure.ts; `connection` carries `token_refused`
 * (a renewed token was refused too), `token_http_<status>`, `token_contract_broken`, `token_renewal_stuck` (another
 * process holds the right to renew for too long), `token_cache_failed`, or `token_` and a word of transport-failure.ts.
 *
 * Throws an Error for a base address or credentials that cannot be used; its text repeats neither.
 */
export function createServiceClient(options: ServiceClientOptions): ServiceClient {
  const { clock, log, timeoutMs, userAgent = 'towhook' } = options;
  const transport = createTransport({ baseUrl: options.baseUrl, timeoutMs, userAgent });
  const credentials = credentialHeaders(options);
  const tokenSource = createTokenSource({ ...options, fetchToken });
  const permitsOf = createPermits(options);

  /** Makes one call: a token if the operation needs one, an attempt, a second one after a 401, one log line. */
  async function perform<N extends OperationName>(
    name: N,
    request: EncodedRequest,
    callOptions: CallOptions,
  ): Promise<CallResult<N>> {
    const startedMs = clock.monotonicMs();
    const operation = OPERATIONS[name];
    const permits = permitsOf(operation.budget, callOptions);
    let wasSent = false;
    const attempt = async (authorization: Authorization): Promise<Classified<AnswerOf<N>>> => {
      const denied = permits.startAttempt();
      if (denied) return { exchange: { kind: 'dropped', notBeforeMs: denied.notBeforeMs }, data: null, rawBody: null };
      const outcome = await transport.send(request, { operation, authorization, permission: () => permits.take() });
      permits.endAttempt();
      wasSent ||= mayHaveLeft(outcome);
      return classify(CONTRACTS[name], outcome, clock.nowMs());
    };
    const made = await (name === 'token' ? attempt(credentials) : withToken(attempt));
    const exchange = name === 'token' ? withBoundedWait(made.exchange, clock.nowMs()) : made.exchange;
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
    const token = data === null ? null : freshToken(data.token, clock.nowMs());
    return token === null ? noTokenAfter(exchange) : { ok: true, token };
  }

  /** A token that was asked for by name must not go to waste: it may be the only one the service still takes. */
  async function adopt(data: unknown): Promise<void> {
    const answer = OPERATIONS.token.answer.safeParse(data);
    const token = answer.success ? freshToken(answer.data.token, clock.nowMs()) : null;
    if (token !== null) await tokenSource.adopt(token);
  }

  return {
    async call(name, request, callOptions = {}) {
      const result = await perform(name, encode(OPERATIONS[name], request), callOptions);
      if (name === 'token') await adopt(result.data);
      return result;
    },
    submitViolation(name, { form, metadataText, images }, callOptions = {}) {
      const asSent = metadataText === undefined ? form : Object.assign({}, form, { metadata: metadataText });
      return perform(name, encode(OPERATIONS[name], asSent, images), callOptions);
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

function credentialHeaders({ clientId, clientSecret }: ServiceClientOptions): Authorization {
  const headers = { 'X-Client-Id': clientId, 'X-Client-Secret': clientSecret };
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\x21-\x7e]+$/.test(value)) throw new Error(`${name} must be printable ASCII without spaces`);
  }
  return headers;
}
