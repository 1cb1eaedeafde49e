import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { jsonObject } from '../../src/contracts/common';
import { deliveryPage, towView, type TowView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { task } from '../../src/contracts/outbox/records';
import { violationView } from '../../src/contracts/violation/violations';
import type { JsonObject } from '../../src/domain/vocabulary';

/** The operator API with retries: an unanswered call is repeated, a change with the same Idempotency-Key. */
export interface RetryingClient {
  /**
   * Posts below `/api` until it is answered, through 503s and broken connections, with one Idempotency-Key. A 404 is an
   * answer unless `waitsOut404` is set. Rejects when the signal aborts.
   */
  post(path: string, change: RetriedPost): Promise<ClientAnswer>;
  /** Posts a multipart form in the same way. */
  postForm(path: string, change: { form: FormData; key: string }): Promise<ClientAnswer>;
  tow(ref: string): Promise<TowView | null>;
  violation(id: string): Promise<CheckedViolation | null>;
  violations(): Promise<CheckedViolation[]>;
  tasks(): Promise<CheckedTask[]>;
  deliveries(cursor: string | null): Promise<typeof deliveryPage._zod.output>;
  /** Reads any path as JSON; null for 404. */
  read(path: string): Promise<unknown>;
  /** The number of repeated calls by reason. */
  readonly repeats: ReadonlyMap<string, number>;
}

export interface RetriedPost {
  readonly body: JsonObject;
  readonly key: string;
  /** Repeats the call while the tow is not known yet. */
  readonly waitsOut404?: boolean;
}

export interface ClientAnswer {
  readonly status: number;
  readonly code: string;
  readonly body: unknown;
}

/** Only the fields that are checked, because a run has many violations. */
const checkedViolation = violationView.pick({
  id: true,
  state: true,
  metadata_id: true,
  accepted_how: true,
  in_flight: true,
  towing_reference_ids: true,
  log: true,
});
export type CheckedViolation = z.infer<typeof checkedViolation>;
const checkedTask = task.extend({ violation: checkedViolation.nullable() });
export type CheckedTask = z.infer<typeof checkedTask>;

const ANSWER_MS = 5000;

export function createRetryingClient(to: { consoleUrl: string; apiKey: string; signal: AbortSignal }): RetryingClient {
  const repeats = new Map<string, number>();
  const authorization = `Bearer ${to.apiKey}`;

  /** One attempt; the reason as text when no usable answer came. */
  const ask = async (path: string, init: RequestInit): Promise<{ status: number; body: unknown } | string> => {
    try {
      const signal = AbortSignal.any([to.signal, AbortSignal.timeout(ANSWER_MS)]);
      const response = await fetch(`${to.consoleUrl}/api${path}`, { ...init, signal });
      const body: unknown = await response.json();
      return response.status >= 500 ? String(response.status) : { status: response.status, body };
    } catch (error) {
      to.signal.throwIfAborted();
      return error instanceof Error ? error.name : 'no answer';
    }
  };
  const askUntilAnswered = async (path: string, init: RequestInit, isAnswer: (status: number) => boolean) => {
    for (let waitMs = 100; ; waitMs = Math.min(1500, waitMs * 1.7)) {
      const answer = await ask(path, init);
      if (typeof answer !== 'string' && isAnswer(answer.status)) return answer;
      const why = typeof answer === 'string' ? answer : String(answer.status);
      repeats.set(why, (repeats.get(why) ?? 0) + 1);
      await pause(waitMs, undefined, { signal: to.signal });
    }
  };
  const read = async (path: string): Promise<unknown> => {
    const answer = await askUntilAnswered(path, { headers: { authorization } }, () => true);
    if (answer.status === 404) return null;
    if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
    return answer.body;
  };

  const change = async (
    path: string,
    init: RequestInit,
    isAnswer: (status: number) => boolean,
  ): Promise<ClientAnswer> => {
    const { status, body } = await askUntilAnswered(path, { method: 'POST', ...init }, isAnswer);
    const code = jsonObject.safeParse(body).data?.['code'];
    return { status, code: typeof code === 'string' ? code : '', body };
  };
  const readAll = async <T extends z.ZodType>(path: string, item: T): Promise<z.output<T>[]> => {
    const contract = page(item);
    const items: z.output<T>[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const found = contract.parse(await read(`${path}?limit=200${after}`));
      items.push(...found.items);
      cursor = found.next_cursor;
    }
    return items;
  };

  return {
    repeats,
    read,
    post(path, { body, key, waitsOut404 = false }) {
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key };
      const init = { headers, body: JSON.stringify(body) };
      return change(path, init, (status) => status !== 404 || !waitsOut404);
    },
    postForm: (path, { form, key }) =>
      change(path, { headers: { authorization, 'idempotency-key': key }, body: form }, () => true),
    async tow(ref) {
      const body = await read(`/tows/${encodeURIComponent(ref)}`);
      return body === null ? null : towView.parse(body);
    },
    async violation(id) {
      const body = await read(`/violations/${encodeURIComponent(id)}`);
      return body === null ? null : checkedViolation.parse(body);
    },
    violations: () => readAll('/violations', checkedViolation),
    tasks: () => readAll('/tasks', checkedTask),
    async deliveries(cursor) {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      return deliveryPage.parse(await read(`/deliveries?limit=200${after}`));
    },
  };
}
