import { createHash } from 'node:crypto';
import { storedObject } from '../contracts/stored';
import { canonicalJson } from '../domain/canonical';
import type { Effect } from '../workflow/effect';
import type { AnswerStore } from '../workflow/ports';
import type { Remember } from '../workflow/transaction-port';
import { answered, invalidFields, refused, refusedBy, type Said } from './said';

/** A change that a request asks for, and the answer it gets once it is made. */
export interface Change {
  /** Makes the change, at most once per key. Its value is the answer, which its commit stores under the key. */
  readonly effect: (remember: Remember | undefined) => Promise<Effect<unknown>>;
  /** The answer of a change whose commit stores none: read after the commit, and stored then. */
  readonly answer?: () => Promise<unknown>;
  /** Fields of the answer that are shown to the maker of the change only: they are stored nowhere. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Whether something is done before the commit that a repeated request must not do again. */
  readonly actsBeforeCommit?: boolean;
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
 * Makes a change, at most once per `Idempotency-Key`. The commit of the effect remembers the key; only successes are
 * remembered, for 24 hours. The same key with another body is refused.
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
  const before = remember && change.actsBeforeCommit ? await answerAgain(answers, remember, change) : null;
  if (before) return before;

  const effect = await change.effect(remember);
  switch (effect.kind) {
    case 'done': {
      const answer = change.answer ? await settled(answers, remember, change.answer) : effect.value;
      return shown(change.status, answer, change.secrets);
    }
    case 'remembered': {
      const first = remember && (await answerAgain(answers, remember, change));
      if (first) return first;
      throw new Error('a remembered answer went missing');
    }
    case 'refused': {
      // Another request under this key may have had the effect a moment ago, which is why ours was refused.
      const first = remember && (await answerAgain(answers, remember, change));
      return first ?? refusedBy(effect.refusal);
    }
  }
}

/** The answer to the first request under the key; null while there is none. */
async function answerAgain(
  answers: AnswerStore,
  remember: Remember,
  { status, answer }: Change & { status: number },
): Promise<Said | null> {
  const found = await answers.find(remember.scope);
  if (!found) return null;
  if (found.fingerprint !== remember.fingerprint) {
    return refused(422, {
      code: 'idempotency_key_reused',
      message: 'This Idempotency-Key was used for another request.',
      details: [{ field: 'Idempotency-Key', rule: 'must not be used for two different requests' }],
    });
  }
  if (found.answer !== null) return shown(status, JSON.parse(found.answer));
  if (!answer) throw new Error('a remembered request has no answer');
  return shown(status, await settled(answers, remember, answer));
}

/** The answer of every request under one key: the first one stored. */
async function settled(
  answers: AnswerStore,
  remember: Remember | undefined,
  read: () => Promise<unknown>,
): Promise<unknown> {
  const answer = await read();
  return remember ? JSON.parse(await answers.settle(remember.scope, JSON.stringify(answer))) : answer;
}

function shown(status: number, answer: unknown, secrets: Readonly<Record<string, string>> = {}): Said {
  const showsSecrets = Object.keys(secrets).length > 0;
  const body = showsSecrets ? { ...storedObject.parse(answer), ...secrets } : answer;
  return { ...answered(status, body), showsSecrets };
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
