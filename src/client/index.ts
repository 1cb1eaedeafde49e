import { errorView } from '../contracts/operator';
import { eventView } from '../contracts/ops/changes';
import { type Route, answerContract } from '../contracts/routes/route';
import { API_KEY_RULE, isSendableKey, type JsonObject } from '../domain/vocabulary';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { failedRules } from '../contracts/rules';
import { ApiAnswerBroken, ApiRefusal, isSyntaxError, unreachable } from './errors';
import type { z } from 'zod';

export { ApiAnswerBroken, ApiRefusal, ApiUnreachable } from './errors';

export interface ClientOptions {
  /** Address of the console: `http://host:port`, with the path prefix of a proxy if any. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Time limit of a call to the end of its answer. It does not apply to uploads and event streams. */
  readonly timeoutMs?: number;
}

/**
 * The operator API. Calls reject with ApiRefusal when towhook refuses, ApiUnreachable without an answer, and
 * ApiAnswerBroken for an answer that is not from this version of towhook.
 */
export interface ApiClient {
  /**
   * Calls a route: `client.call(ROUTES.readTow, { params: { towing_reference_id } })`. Returns the JSON of the answer,
   * which is checked against the contract of the route, or the response of a route that gives an image or CSV.
   */
  call<R extends Route>(route: R, ...request: CallArguments<R>): Promise<CallAnswer<R>>;
  /** Calls back with the reference of every tow that changes. Resolves when the stream ends; rejects when it is aborted. */
  watchTows(onChange: (towingReference: string) => void, signal: AbortSignal): Promise<void>;
}

const TIMEOUT_MS = 30_000;

/**
 * Creates a client of the operator API.
 *
 * @throws TypeError for a key that cannot be sent in a header.
 */
export function createClient({ baseUrl, apiKey, timeoutMs = TIMEOUT_MS }: ClientOptions): ApiClient {
  // Checked here, because the error of `fetch` contains the key.
  if (!isSendableKey(apiKey)) throw new TypeError(`the API key ${API_KEY_RULE}`);
  const base = { url: baseUrl.replace(/\/$/, ''), headers: { authorization: `Bearer ${apiKey}` } };
  return {
    async call(route, ...[request = {}]) {
      const made = requestOf(base, route, request);
      return answerIn(await accepted(fetchWithin(route.takes === 'form' ? UPLOAD_TIMEOUT_MS : timeoutMs, made)), route);
    },
    async watchTows(onChange, signal) {
      // Without a time limit, which would end the stream.
      const { body } = await accepted(fetch(`${base.url}/api/events`, { ...base, redirect: 'manual', signal }));
      if (!body) throw new Error('the event stream has no body');
      await readEvents(body, onChange);
    },
  };
}

interface Base {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

function requestOf(base: Base, route: Route, { params = {}, query, body, key, onSent }: RequestParts): Request {
  const path = route.path.replaceAll(/:(\w+)/g, (_part, name: string) => encodeURIComponent(params[name] ?? ''));
  const isForm = route.takes === 'form';
  const made = new Request(`${base.url}${path}${queryText(query)}`, {
    method: route.method.toUpperCase(),
    headers: {
      ...base.headers,
      ...(body && !isForm && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: isForm ? formOf(body) : JSON.stringify(body) }),
    // towhook never redirects. Another server must not get the key.
    redirect: 'manual',
  });
  return onSent ? counted(made, onSent) : made;
}

/** Undefined parameters are left out. */
function queryText(query: object = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.append(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

async function readEvents(body: ReadableStream<Uint8Array>, onChange: (towingReference: string) => void) {
  let unread = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = `${unread}${chunk}`.split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ')) continue;
      const change = eventView.parse(JSON.parse(line.slice('data: '.length)));
      if ('subject' in change && change.subject?.kind === 'tow') onChange(change.subject.id);
    }
  }
}

/**
 * Calls `fetch` with a time limit that includes the body of the answer, which is read before this resolves. Rejects with a
 * TimeoutError after `limitMs`.
 */
async function fetchWithin(limitMs: number, request: Request): Promise<Response> {
  const ending = new AbortController();
  // Not AbortSignal.timeout(): Node 20 collects it while only AbortSignal.any() refers to it, and the limit is lost.
  const timer = setTimeout(() => ending.abort(new DOMException('The call took too long.', 'TimeoutError')), limitMs);
  try {
    const answer = await fetch(request, { signal: AbortSignal.any([request.signal, ending.signal]) });
    return new Response(answer.body === null ? null : await answer.arrayBuffer(), answer);
  } finally {
    clearTimeout(timer);
  }
}

/** The time limit of a form: more than the console gives the largest one (docs/operations/running.md#connections). */
const UPLOAD_TIMEOUT_MS = 3_600_000;

/** Fields as text, objects as JSON, files as files. Undefined fields are left out. */
function formOf(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) append(form, name, one);
  }
  return form;
}

function append(form: FormData, name: string, value: unknown): void {
  if (value === undefined) return;
  if (value instanceof Blob) form.append(name, value);
  else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
}

/** The same request; `onSent` is called with the number of bytes of its body sent so far. */
function counted(request: Request, onSent: (bytes: number) => void): Request {
  const { body, method } = request;
  return body ? new Request(request, { method, body: body.pipeThrough(counting(onSent)), duplex: 'half' }) : request;
}

function counting(onSent: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array, controller) {
      bytes += chunk.byteLength;
      onSent(bytes);
      controller.enqueue(chunk);
    },
  });
}

/** Waits for an answer. Rejects with ApiUnreachable without one, and with ApiRefusal for a refusal. */
async function accepted(answer: Promise<Response>): Promise<Response> {
  const response = await answer.catch((error: unknown) => {
    throw unreachable(error);
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The answer of a route. Rejects with ApiAnswerBroken when it breaks the contract. */
async function answerIn<R extends Route>(response: Response, route: R): Promise<CallAnswer<R>> {
  const answer = await contentOf(response, route);
  checkAnswer(answer, route);
  return answer;
}

async function contentOf(response: Response, route: Route): Promise<unknown> {
  if (route.gives !== undefined) return response;
  return route.status === 204 ? null : jsonOf(response);
}

/**
 * Checks an answer against its contract. This types the received JSON and not the parsed value, which would lack the fields
 * of a newer console. That is sound while contracts of answers only check: they do not transform.
 */
function checkAnswer<R extends Route>(answer: unknown, route: R): asserts answer is CallAnswer<R> {
  if (answer instanceof Response) {
    if (answer.headers.get('content-length') !== '0') return;
    throw new ApiAnswerBroken([{ field: 'body', rule: 'is required' }]);
  }
  const checked = answerContract(route).safeParse(answer);
  if (checked.error) throw new ApiAnswerBroken(failedRules(checked.error));
}

/** The body as JSON, undefined when it is not JSON. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
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

/** The types of a call, inferred from the contract of its route. */

/** What any request may have. */
interface RequestParts {
  /** The variable parts of the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: object;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** Called with the number of bytes of a form sent so far. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

/** The names of the parts of a path that are written `:name`. */
type PathName<P extends string> = P extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | PathName<`/${Rest}`>
  : P extends `${string}/:${infer Name}`
    ? Name
    : never;

type InputOf<S> = S extends z.ZodType ? z.input<S> : Record<string, never>;

/** What every form may have. `accept_damaged_images` takes images of which a part is missing. */
interface ImageFields {
  readonly images?: readonly Blob[] | undefined;
  readonly accept_damaged_images?: boolean | undefined;
}

/** The fields of a form and its images: `File`, or `Blob` without a name. A Blob of `fs.openAsBlob` is streamed. */
type FormOf<S> = ImageFields &
  (S extends z.ZodType
    ? { readonly [Name in keyof z.output<S>]: string | number | boolean | JsonObject | readonly Blob[] | undefined }
    : unknown);

type BodyOf<R extends Route> = R extends { readonly takes: 'form' } ? FormOf<R['body']> : InputOf<R['body']>;

/** A property that is optional if an empty object is enough. */
type Part<Name extends string, T> =
  Record<string, never> extends T ? { readonly [N in Name]?: T } : { readonly [N in Name]: T };

type CallRequest<R extends Route> = RequestParts &
  Part<'params', Readonly<Record<PathName<R['path']>, string>>> &
  Part<'query', InputOf<R['query']>> &
  Part<'body', BodyOf<R>>;

/** The request of a route; nothing for a route that needs none. */
type CallArguments<R extends Route> =
  Record<string, never> extends CallRequest<R> ? [request?: CallRequest<R>] : [request: CallRequest<R>];

/** The JSON of an answer, or the response of a route that gives an image or CSV. */
type CallAnswer<R extends Route> = R extends { readonly gives: string }
  ? Response
  : z.output<R['answer']> | (R extends { readonly again: infer A extends z.ZodType } ? z.output<A> : never);
