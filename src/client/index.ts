import createFetchClient, { type Client, type Middleware } from 'openapi-fetch';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { errorView, eventView } from '../contracts/operator';
import { answerContract, ROUTES, type Route } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import { API_KEY_RULE, isSendableKey } from '../domain/vocabulary';
import { fetchWithin } from './fetch-within';
import type { paths } from './paths';
import { ApiAnswerBroken, ApiRefusal, isSyntaxError, unreachable } from './errors';

export { ApiAnswerBroken, ApiRefusal, ApiUnreachable } from './errors';
export { asUpload, type FormUploadOptions } from './upload';
export type {
  ApiKey,
  AuditEntry,
  Conservation,
  Delivery,
  DeliveryDetail,
  NewApiKey,
  paths,
  OtherCall,
  Queue,
  RefusedCall,
  Report,
  Sending,
  Task,
  Tow,
  Violation,
} from './paths';

export interface ClientOptions {
  /** Address of the console: `http://host:port`, with the path prefix of a proxy if any. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Time limit of a call to the end of its answer. It does not apply to uploads and event streams. */
  readonly timeoutMs?: number;
}

/** The operator API; every call is typed by the OpenAPI document. */
export type ApiClient = Client<paths>;

const TIMEOUT_MS = 30_000;

/**
 * Creates a client of the operator API. Every JSON answer is checked against its contract.
 *
 * Calls reject with ApiRefusal when towhook refuses, ApiUnreachable without an answer, and ApiAnswerBroken for an answer
 * that is not from this version of towhook.
 *
 * @throws TypeError for a key that cannot be sent in a header.
 */
export function createClient(options: ClientOptions): ApiClient {
  const { baseUrl, apiKey, timeoutMs = TIMEOUT_MS } = options;
  // Checked here, because the error of `fetch` contains the key.
  if (!isSendableKey(apiKey)) throw new TypeError(`the API key ${API_KEY_RULE}`);
  const client = createFetchClient<paths>({
    baseUrl,
    headers: { authorization: `Bearer ${apiKey}` },
    // towhook never redirects. Another server must not get the key.
    redirect: 'manual',
    fetch: (request) => fetchWithin(timeoutMs, request),
  });
  client.use(checkAnswers);
  return client;
}

/** The answer of a call: `await answerOf(client.GET('/api/queues'))`. Rejects like the call. */
export async function answerOf<T>(call: Promise<{ readonly data?: T }>): Promise<T> {
  const { data } = await call;
  if (data === undefined) throw new ApiAnswerBroken([{ field: 'body', rule: 'is required' }]);
  return data;
}

/** Rejects refusals, and answers that break their contract. */
const checkAnswers: Middleware = {
  async onResponse({ request, response, schemaPath }) {
    if (!response.ok) throw await refusalOf(response);
    const route = ROUTE_OF.get(`${request.method.toLowerCase()} ${schemaPath}`);
    if (!route || route.status === 204 || route.gives !== undefined) return;
    const checked = answerContract(route).safeParse(await jsonOf(response));
    if (checked.error) throw new ApiAnswerBroken(failedRules(checked.error));
  },
  onError: ({ error }) => unreachable(error),
};

const ROUTE_OF: ReadonlyMap<string, Route> = new Map(
  Object.values<Route>(ROUTES).map((route) => [`${route.method} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`, route]),
);

/** The body as JSON, undefined when it is not JSON. The body can be read again. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.clone().json();
  } catch (error) {
    if (isSyntaxError(error)) return undefined;
    throw unreachable(error);
  }
}

async function refusalOf(response: Response): Promise<ApiRefusal> {
  const error = errorView.safeParse(await jsonOf(response));
  const { status: httpStatus } = response;
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiRefusal({
    httpStatus,
    code: error.data?.code ?? `http_${httpStatus}`,
    message: error.data?.message ?? `The answer ${httpStatus} is not from towhook.`,
    details: error.data?.details ?? [],
    retryAfterS: Number.isFinite(retryAfter) ? retryAfter : null,
    isOfConsole: error.success && error.data.message !== NO_SUCH_ADDRESS.message,
  });
}

/** Calls back with the reference of every tow that changes. Resolves when the stream ends; rejects when it is aborted. */
export async function watchTows(
  client: ApiClient,
  onChange: (towingReference: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // Its own fetch, because the time limit of the client would end the stream.
  const { data } = await client.GET('/api/events', { parseAs: 'stream', signal, fetch: (request) => fetch(request) });
  if (!data) throw new Error('the event stream has no body');
  let unread = '';
  for await (const chunk of data.pipeThrough(new TextDecoderStream())) {
    const lines = `${unread}${chunk}`.split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const { towing_reference_id: ref } = eventView.parse(JSON.parse(line.slice('data: '.length)));
      if (ref !== undefined) onChange(ref);
    }
  }
}
