import createFetchClient, { type Middleware } from 'openapi-fetch';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { errorView } from '../contracts/operator';
import { ROUTES, type Route } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import { API_KEY_RULE, isSendableKey } from '../domain/api-key';
import type { ApiClient } from './api-client';
import type { paths } from './paths';
import { ApiAnswerBroken, ApiRefusal, isSyntaxError, unreachable } from './refusals';

export { ApiAnswerBroken, ApiRefusal, ApiUnreachable } from './refusals';
export type { ApiClient } from './api-client';
export { watchTows } from './events';
export { asUpload, type UploadOptions } from './upload';
export type {
  ApiKey,
  AuditEntry,
  Conservation,
  Delivery,
  DeliveryDetail,
  NewApiKey,
  paths,
  QuarantinedCall,
  Queue,
  Report,
  Sending,
  Task,
  Tow,
  Violation,
} from './paths';

export interface ClientOptions {
  /** Where the console listens: `http://host:port`, with a path prefix if a proxy gives it one. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** How long an answer is waited for; uploads and event streams have limits of their own. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/**
 * A client of the operator API. Every JSON answer is held against its contract.
 *
 * Calls reject with ApiRefusal when towhook says no, ApiUnreachable when no answer came, and ApiAnswerBroken when the
 * answer is none of towhook's.
 *
 * @throws TypeError for a key that no request can carry.
 */
export function createClient(options: ClientOptions): ApiClient {
  const { baseUrl, apiKey, timeoutMs = TIMEOUT_MS } = options;
  // What `fetch` says of such a key repeats it.
  if (!isSendableKey(apiKey)) throw new TypeError(`the API key ${API_KEY_RULE}`);
  const client = createFetchClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    // Whoever answers with a redirection is no towhook, and must not get the key.
    redirect: 'manual',
    fetch: (request) => fetch(request, { signal: AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]) }),
  });
  client.use(strictly);
  return client;
}

/**
 * The answer of a call alone: `await answerOf(client.GET('/api/queues'))`. Rejects as the call does.
 */
export async function answerOf<T>(call: Promise<{ readonly data?: T }>): Promise<T> {
  const { data } = await call;
  if (data === undefined) throw new ApiAnswerBroken([{ field: 'body', rule: 'is required' }]);
  return data;
}

/** Turns refusals into errors, and lets no answer pass that breaks its contract. */
const strictly: Middleware = {
  async onResponse({ request, response, schemaPath }) {
    if (!response.ok) throw await refusalOf(response);
    const route = ROUTE_OF.get(`${request.method.toLowerCase()} ${schemaPath}`);
    if (!route || route.status === 204 || route.gives === 'image') return;
    const checked = route.answer.safeParse(await jsonOf(response));
    if (checked.error) throw new ApiAnswerBroken(failedRules(checked.error));
  },
  onError: ({ error }) => unreachable(error),
};

const ROUTE_OF: ReadonlyMap<string, Route> = new Map(
  Object.values<Route>(ROUTES).map((route) => [`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, route]),
);

/** The body as JSON; it can be read once more. Undefined when it is none. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.clone().json();
  } catch (error) {
    if (isSyntaxError(error)) return undefined;
    throw unreachable(error);
  }
}

async function refusalOf(response: Response): Promise<ApiRefusal> {
  const said = errorView.safeParse(await jsonOf(response));
  const { status: httpStatus } = response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiRefusal({
    httpStatus,
    code: said.data?.code ?? `http_${httpStatus}`,
    message: said.data?.message ?? `The answer was ${httpStatus}, and not towhook's.`,
    details: said.data?.details ?? [],
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
    isOfConsole: said.success && said.data.message !== NO_SUCH_ADDRESS.message,
  });
}
