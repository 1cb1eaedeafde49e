import request from 'supertest';
import { z } from 'zod';
import { deliveryPage, errorView, newApiKeyView, towView, type TowView } from '../../src/contracts/operator';
import type { Role } from '../../src/domain/vocabulary';
import { auditView } from '../../src/contracts/ops/audit';
import { page } from '../../src/contracts/paging';
import type { App } from '../support/app';

/** The operator API as dispatch software meets it. */

/** The address of a console and an API key for it. */
export type ConsoleAccess = Pick<App, 'consoleUrl' | 'apiKey'>;

/** The part of a supertest response that the helpers below read. */
export type ApiResponse = Pick<request.Response, 'status' | 'text'> & { readonly body: unknown };

/**
 * A supertest agent on the console's port whose calls carry an API key: the bootstrap key (role `ops`) unless another is
 * given. Null sends no key.
 *
 *     await api(app).post(towPath(ref, '/detained')).send({}).expect(202);
 */
export function api(app: ConsoleAccess, apiKey: string | null = app.apiKey): ReturnType<typeof request.agent> {
  const agent = request.agent(app.consoleUrl);
  return apiKey === null ? agent : agent.set('authorization', `Bearer ${apiKey}`);
}

/** The error of a refusal; fails unless the body has exactly the fields that every refusal has. */
export function errorOf(response: ApiResponse): z.infer<typeof errorView> {
  return z.strictObject(errorView.shape).parse(response.body);
}

/** The names of the fields that a refusal lists, sorted. */
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

export async function towOf(app: ConsoleAccess, ref: string): Promise<TowView> {
  return towIn(await api(app).get(towPath(ref)), 200);
}

/** One page of tows. */
export async function towsPage(app: ConsoleAccess, query: Readonly<Record<string, string>> = {}) {
  const response = await api(app).get('/api/tows').query(query);
  return page(towView).parse(response.body);
}

/** One page of deliveries. */
export async function deliveriesPage(app: ConsoleAccess, query: Readonly<Record<string, string>> = {}) {
  const response = await api(app).get('/api/deliveries').query(query);
  return deliveryPage.parse(response.body);
}

/** The references of all tows a query finds, page by page. */
export async function refsFound(app: ConsoleAccess, query: Readonly<Record<string, string>> = {}): Promise<string[]> {
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
export async function newKey(app: ConsoleAccess, role: Role, name?: string): Promise<string> {
  keysMade += 1;
  const response = await api(app)
    .post('/api/keys')
    .send({ name: name ?? `${role} ${keysMade}`, role });
  return newApiKeyView.parse(response.body).api_key;
}

/** Reads a page of the audit. */
export async function audited(app: ConsoleAccess, query: Readonly<Record<string, string>> = {}) {
  return page(auditView).parse((await api(app).get('/api/audit').query(query)).body);
}

/**
 * The audit entries that `acts` added, newest first. Asserts that their seqs follow each other and that their timestamps
 * lie within the time of `acts`, and leaves both out.
 */
export async function entriesOf(app: ConsoleAccess, acts: () => Promise<unknown>) {
  const before = (await audited(app)).items[0]?.seq ?? 0;
  const earliestMs = Date.now();
  await acts();
  const latestMs = Date.now();
  const fresh = (await audited(app)).items.filter(({ seq }) => seq > before);
  expect(fresh.map(({ seq }) => seq).toReversed()).toEqual(fresh.map((_entry, index) => before + index + 1));
  return fresh.map(({ seq: _seq, at, ...entry }) => {
    expect(Date.parse(at)).toBeGreaterThanOrEqual(earliestMs);
    expect(Date.parse(at)).toBeLessThanOrEqual(latestMs);
    return entry;
  });
}
