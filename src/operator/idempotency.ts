import { storedObject } from '../domain/stored';
import { canonicalJson } from '../domain/json';
import { sha256Hex } from '../platform/hash';
import type { ActionResult } from '../workflow/action-result';
import type { AnswerStore } from '../workflow/ports';
import type { IdempotencyKey } from '../workflow/transaction-port';
import { answered, invalidFields, refusedResponse, refusedByRule, type EndpointResponse } from './responses';

/** The change that a request asks for. */
export interface Change {
  /** Makes the change, at most once per key. Its value is the answer; the commit stores it under the key. */
  readonly effect: (idempotency: IdempotencyKey | undefined) => Promise<ActionResult<unknown>>;
  /** Reads the answer after a commit that stores none. It is stored under the key then. */
  readonly answer?: () => Promise<unknown>;
  /** Fields that are added to the first answer only. They are never stored. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** True when the change acts before its commit, so a repeated request must be detected first. */
  readonly actsBeforeCommit?: boolean;
}

/** An Idempotency-Key applies to one method and path. */
interface KeyedAddress {
  /** In capitals. */
  readonly method: string;
  /** With its parameters filled in. */
  readonly path: string;
}

export interface ChangeRequest extends KeyedAddress {
  readonly idempotencyKey: string | undefined;
  /** The body, or what identifies a form. A key cannot be used again with other content. */
  readonly content: unknown;
}

const KEY_MAX = 255;

/**
 * Makes a change at most once per `Idempotency-Key`. The commit of the change stores the key, so only successes are
 * stored, for 24 hours. A key that was used with other content is refused with 422.
 */
export async function changeOnce(
  request: ChangeRequest,
  answers: AnswerStore,
  change: Change & { status: number },
): Promise<EndpointResponse> {
  const { idempotencyKey: key } = request;
  if (key !== undefined && (key.trim() === '' || key.length > KEY_MAX)) {
    return invalidFields([{ field: 'Idempotency-Key', rule: `must have 1 to ${KEY_MAX} characters` }]);
  }
  const idempotency = key === undefined ? undefined : idempotencyRecordOf(request, key);
  const earlier = idempotency && change.actsBeforeCommit ? await repeatAnswer(answers, idempotency, change) : null;
  if (earlier) return earlier;

  const effect = await change.effect(idempotency);
  switch (effect.kind) {
    case 'done': {
      const answer = change.answer ? await settleAnswer(answers, idempotency, change.answer) : effect.value;
      return answerWith(change.status, answer, change.secrets);
    }
    case 'repeated': {
      const first = idempotency && (await repeatAnswer(answers, idempotency, change));
      if (first) return first;
      throw new Error(`no stored answer for a repeated ${request.method} request`);
    }
    case 'refused': {
      // A concurrent request with this key may have made the change, which is why this one was refused.
      const first = idempotency && (await repeatAnswer(answers, idempotency, change));
      return first ?? refusedByRule(effect.refusal);
    }
  }
}

/** The answer of the first request with this key; null when there is none. */
async function repeatAnswer(
  answers: AnswerStore,
  idempotency: IdempotencyKey,
  { status, answer }: Change & { status: number },
): Promise<EndpointResponse | null> {
  const found = await answers.find(idempotency.scope);
  if (!found) return null;
  if (found.fingerprint !== idempotency.fingerprint) {
    return refusedResponse(422, {
      code: 'idempotency_key_reused',
      message: 'This Idempotency-Key was used for another request. Use a new key.',
      details: [{ field: 'Idempotency-Key', rule: 'must not be used for two different requests' }],
    });
  }
  if (found.answer !== null) return answerWith(status, JSON.parse(found.answer));
  if (!answer) throw new Error('a repeated request has no stored answer and none can be read');
  return answerWith(status, await settleAnswer(answers, idempotency, answer));
}

/** Reads the answer and stores it under the key. Requests with one key all get the answer that was stored first. */
async function settleAnswer(
  answers: AnswerStore,
  idempotency: IdempotencyKey | undefined,
  read: () => Promise<unknown>,
): Promise<unknown> {
  const answer = await read();
  return idempotency ? JSON.parse(await answers.settle(idempotency.scope, JSON.stringify(answer))) : answer;
}

function answerWith(status: number, answer: unknown, secrets: Readonly<Record<string, string>> = {}): EndpointResponse {
  const hasSecrets = Object.keys(secrets).length > 0;
  const body = hasSecrets ? { ...storedObject.parse(answer), ...secrets } : answer;
  return { ...answered(status, body), hasSecrets };
}

function idempotencyRecordOf(request: ChangeRequest, key: string): IdempotencyKey {
  return { scope: scopeOf(request, key), fingerprint: digest(canonicalJson(storedObject.parse(request.content))) };
}

/** The id under which a key is stored. It does not depend on the caller. */
export function scopeOf({ method, path }: KeyedAddress, key: string): string {
  return digest(JSON.stringify([method, path, key]));
}

function digest(text: string): string {
  return sha256Hex(text);
}
