import request from 'supertest';
import { z } from 'zod';
import { deliveryPage, errorView, newApiKeyView, towView, type TowView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import type { Role } from '../../src/domain/vocabulary';
import type { App } from '../support/app';

/** The operator API as dispatch software meets it. */

type Console = Pick<App, 'consoleUrl' | 'apiKey'>;

/** The part of a supertest response that the helpers below read. */
export type ApiResponse = Pick<request.Response, 'status' | 'text'> & { readonly body: unknown };

/**
 * A supertest agent on the console's port whose calls carry an API key: the bootstrap key (role `ops`) unless another is
 * given. Null sends no key.
 *
 *     await api(app).post(towPath(ref, '/detained')).send({}).expect(202);
 */
export function api(app: Console, apiKey: string | null = app.apiKey): ReturnType<typeof request.agent> {
  const agent = request.agent(app.consoleUrl);
  return apiKey === null ? agent : agent.set('authorization', `Bearer ${apiKey}`);
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when the answer is not JSON. */
  readonly json: unknown;
  readonly body: unknown;
}

export interface CallOptions {
  /** Null sends none; the bootstrap key when left out. */
  readonly apiKey?: string | null;
  readonly idempotencyKey?: string;
}

/** Makes a call. A body that is text or a form goes out as it is, anything else as JSON. */
export async function call(
  app: Console,
  [method, path, body]: readonly [method: string, path: string, body?: unknown],
  options: CallOptions = {},
): Promise<Answer> {
  const apiKey = options.apiKey === undefined ? app.apiKey : options.apiKey;
  const response = await fetch(`${app.consoleUrl}${path}`, {
    method,
    headers: {
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
      ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isSentAsItIs(body) ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  const json: unknown = isJson && text !== '' ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json, body: json };
}

function isSentAsItIs(body: unknown): body is string | FormData {
  return typeof body === 'string' || body instanceof FormData;
}

export function get(app: Console, path: string, options?: CallOptions): Promise<Answer> {
  return call(app, ['GET', path], options);
}

export function post(app: Console, path: string, body: unknown = {}, options?: CallOptions): Promise<Answer> {
  return call(app, ['POST', path, body], options);
}

/** What is wrong, in the one shape that every refusal has. */
export function errorOf(answer: ApiResponse): z.infer<typeof errorView> {
  return z.strictObject(errorView.shape).parse(answer.body);
}

/** The names of the fields that a refusal finds fault with, sorted. */
export function fieldsOf(answer: ApiResponse): string[] {
  return errorOf(answer)
    .details.map(({ field }) => field)
    .toSorted((a, b) => a.localeCompare(b));
}

/** The path of a tow, with what follows it. */
export function towPath(ref: string, more = ''): string {
  return `/api/tows/${encodeURIComponent(ref)}${more}`;
}

/** The tow of an answer that must be one, with the status it must have. */
export function towIn(answer: ApiResponse, status = 202): TowView {
  if (answer.status !== status) throw new Error(`answered ${answer.status}: ${answer.text}`);
  return towView.parse(answer.body);
}

export async function towOf(app: Console, ref: string): Promise<TowView> {
  return towIn(await api(app).get(towPath(ref)), 200);
}

/** One page of tows. */
export async function towsPage(app: Console, query: Readonly<Record<string, string>> = {}) {
  const { body } = await api(app).get('/api/tows').query(query);
  return page(towView).parse(body);
}

/** One page of deliveries. */
export async function deliveriesPage(app: Console, query: Readonly<Record<string, string>> = {}) {
  const { body } = await api(app).get('/api/deliveries').query(query);
  return deliveryPage.parse(body);
}

/** The references of all tows a query finds, page by page. */
export async function refsFound(app: Console, query: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const refs: string[] = [];
  let cursor: string | null = null;
  do {
    const found = await towsPage(app, { ...query, ...(cursor === null ? {} : { cursor }) });
    refs.push(...found.items.map(({ towing_reference_id }) => towing_reference_id));
    cursor = found.next_cursor;
  } while (cursor !== null);
  return refs;
}

let keysMade = 0;

/** A new key of a role; its name is its own, unless one is given. */
export async function newKey(app: Console, role: Role, name?: string): Promise<string> {
  keysMade += 1;
  const { body } = await api(app)
    .post('/api/keys')
    .send({ name: name ?? `${role} ${keysMade}`, role });
  return newApiKeyView.parse(body).api_key;
}
