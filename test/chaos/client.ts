import { setTimeout as pause } from 'node:timers/promises';
import { jsonObject } from '../../src/contracts/common';
import { deliveryPage, page, towView, type TowView } from '../../src/contracts/operator';
import { task, type Task } from '../../src/contracts/records';
import type { JsonObject } from '../../src/domain/vocabulary';

/** The operator API as a patient program uses it: whatever gets no answer is asked again, a change under one key. */
export interface PatientClient {
  /**
   * Posts below `/api` until it is answered, through 503s and broken connections, always under the same Idempotency-Key.
   * A 404 is an answer unless it is to be waited out. Rejects when the signal ends the run.
   */
  post(path: string, change: Post): Promise<{ status: number; code: string }>;
  tow(ref: string): Promise<TowView | null>;
  tasks(): Promise<Task[]>;
  deliveries(cursor: string | null): Promise<typeof deliveryPage._zod.output>;
  /** Any address, as JSON; null when there is no such address. */
  read(path: string): Promise<unknown>;
  /** How often it had to ask again, and why. */
  readonly repeats: ReadonlyMap<string, number>;
}

export interface Post {
  readonly body: JsonObject;
  readonly key: string;
  /** Waits for a thing that is not known yet. */
  readonly waitsOut404?: boolean;
}

const ANSWER_MS = 5000;
const taskPage = page(task);

export function createPatientClient(to: { consoleUrl: string; apiKey: string; signal: AbortSignal }): PatientClient {
  const repeats = new Map<string, number>();
  const authorization = `Bearer ${to.apiKey}`;

  /** One try; null when no usable answer came. */
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

  return {
    repeats,
    read,
    async post(path, { body, key, waitsOut404 = false }) {
      const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key };
      const init = { method: 'POST', headers, body: JSON.stringify(body) };
      const answer = await askUntilAnswered(path, init, (status) => status !== 404 || !waitsOut404);
      const code = jsonObject.safeParse(answer.body).data?.['code'];
      return { status: answer.status, code: typeof code === 'string' ? code : '' };
    },
    async tow(ref) {
      const body = await read(`/tows/${encodeURIComponent(ref)}`);
      return body === null ? null : towView.parse(body);
    },
    async tasks() {
      const items: Task[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const found = taskPage.parse(await read(`/tasks?limit=200${after}`));
        items.push(...found.items);
        cursor = found.next_cursor;
      }
      return items;
    },
    async deliveries(cursor) {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      return deliveryPage.parse(await read(`/deliveries?limit=200${after}`));
    },
  };
}
