import { createHash } from 'node:crypto';
import { storedObject } from '../contracts/stored';
import { canonicalJson } from '../domain/canonical';
import type { AnswerStore, Remember } from '../workflow/ports';
import type { Effect } from '../workflow/progress';
import { answered, invalidFields, refused, refusedBy, type Said } from './said';

/** A change that a request asks for, and the answer it gets once it is made. */
export interface Change {
  readonly effect: (remember: Remember | undefined) => Promise<Effect>;
  readonly answer: () => Promise<unknown>;
  /** Fields of the answer that are shown to the maker of the change only: they are stored nowhere. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** Where an Idempotency-Key counts. */
interface Address {
  /** In capitals. */
  readonly method: string;
  /** With its varying parts filled in, as it stands in an address. */
  readonly path: string;
}

/** A request that changes something, as far as repeating it goes. */
export interface Repeatable extends Address {
  readonly idempotencyKey: string | undefined;
  /** What tells the request from another one to the same address: its body, or what stands for its form. */
  readonly asked: unknown;
}

const KEY_MAX = 255;

/**
 * Makes a change, at most once per `Idempotency-Key`. The memory of the effect is written by the script that writes the
 * effect; only successes are remembered, for 24 hours. The same key with another body is refused.
 */
export async function changeOnce(
  request: Repeatable,
  answers: AnswerStore,
  change: Change & { status: number },
): Promise<Said> {
  const { idempotencyKey: key } = request;
  if (key !== undefined && (key.trim() === '' || key.length > KEY_MAX)) {
    return invalidFields([{ field: 'Idempotency-Key', rule: `must have 1 to ${KEY_MAX} characters` }]);
  }
  const remember = key === undefined ? undefined : rememberOf(request, key);
  const again = remember && (await answerAgain(answers, { remember, change }));
  if (again) return again;

  const effect = await change.effect(remember);
  switch (effect.kind) {
    case 'done':
      return shown(await settle(answers, { remember, change }), change.secrets);
    case 'remembered': {
      const first = remember && (await answerAgain(answers, { remember, change }));
      if (first) return first;
      throw new Error('a remembered answer went missing');
    }
    case 'refused': {
      // Another request under this key may have had the effect a moment ago, which is why ours was refused.
      const first = remember && (await answerAgain(answers, { remember, change }));
      return first ?? refusedBy(effect.refusal);
    }
  }
}

interface Once {
  readonly remember: Remember | undefined;
  readonly change: Change & { status: number };
}

/** What the first request under the key was told; null while there is none. */
async function answerAgain(answers: AnswerStore, once: Once & { remember: Remember }): Promise<Said | null> {
  const found = await answers.find(once.remember.scope);
  if (!found) return null;
  if (found.fingerprint !== once.remember.fingerprint) {
    return refused(422, {
      code: 'idempotency_key_reused',
      message: 'This Idempotency-Key was used for another request.',
      details: [{ field: 'Idempotency-Key', rule: 'must not be used for two different requests' }],
    });
  }
  return shown(found.answer ?? (await settle(answers, once)));
}

/** An answer as it is remembered. */
export function answerText(status: number, body: unknown): string {
  return JSON.stringify({ status, body });
}

/** The answer everybody gets under one key: the first one stored. */
async function settle(answers: AnswerStore, { remember, change }: Once): Promise<string> {
  const answer = answerText(change.status, await change.answer());
  return remember ? answers.settle(remember.scope, answer) : answer;
}

function shown(answer: string, secrets: Readonly<Record<string, string>> = {}): Said {
  const { status, body } = storedObject.parse(JSON.parse(answer));
  const fields = storedObject.safeParse(body);
  return {
    ...answered(Number(status), fields.success ? { ...fields.data, ...secrets } : body),
    showsSecrets: Object.keys(secrets).length > 0,
  };
}

function rememberOf(request: Repeatable, key: string): Remember {
  return { scope: scopeOf(request, key), fingerprint: digest(canonicalJson(storedObject.parse(request.asked))) };
}

/** The name under which the effect of a request is remembered: whoever makes it, its address and its key. */
export function scopeOf({ method, path }: Address, key: string): string {
  return digest(JSON.stringify([method, path, key]));
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
