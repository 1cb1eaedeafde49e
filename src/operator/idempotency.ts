import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { jsonObject } from '../contracts/common';
import { canonicalJson } from '../domain/canonical';
import type { AnswerStore, Remember } from '../workflow/ports';
import type { Effect } from '../workflow/progress';
import { sendError, sendInvalid, sendRefusal } from './reply';

/** A change that a request asks for, and the answer it gets once it is made. */
export interface Change {
  readonly effect: (remember: Remember | undefined) => Promise<Effect>;
  readonly answer: () => Promise<unknown>;
  /** Fields of the answer that are shown to the maker of the change only: they are stored nowhere. */
  readonly secrets?: Readonly<Record<string, string>>;
}

export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  /** What tells the request from another one to the same address: its body, or what stands for its form. */
  readonly asked: unknown;
}

const KEY_MAX = 255;

/**
 * Makes a change, at most once per `Idempotency-Key`. The memory of the effect is written by the script that writes the
 * effect; only successes are remembered, for 24 hours. The same key with another body is refused.
 */
export async function changeOnce(
  exchange: Exchange,
  answers: AnswerStore,
  change: Change & { status: number },
): Promise<void> {
  const { request, response, asked } = exchange;
  const key = request.get('idempotency-key');
  if (key !== undefined && (key.trim() === '' || key.length > KEY_MAX)) {
    return sendInvalid(response, [{ field: 'Idempotency-Key', rule: `must have 1 to ${KEY_MAX} characters` }]);
  }
  const remember = key === undefined ? undefined : rememberOf(request, { key, asked });
  if (remember && (await answerAgain(exchange, answers, { remember, change }))) return;

  const effect = await change.effect(remember);
  switch (effect.kind) {
    case 'done':
      return send(response, await settle(answers, { remember, change }), change.secrets);
    case 'remembered':
      if (remember && (await answerAgain(exchange, answers, { remember, change }))) return;
      throw new Error('a remembered answer went missing');
    case 'refused':
      // Another request under this key may have had the effect a moment ago, which is why ours was refused.
      if (remember && (await answerAgain(exchange, answers, { remember, change }))) return;
      return sendRefusal(response, effect.refusal);
  }
}

interface Once {
  readonly remember: Remember | undefined;
  readonly change: Change & { status: number };
}

async function answerAgain(
  { response }: { response: Response },
  answers: AnswerStore,
  once: Once & { remember: Remember },
): Promise<boolean> {
  const found = await answers.find(once.remember.scope);
  if (!found) return false;
  if (found.fingerprint !== once.remember.fingerprint) {
    sendError(response, 422, {
      code: 'idempotency_key_reused',
      message: 'This Idempotency-Key was used for another request.',
      details: [{ field: 'Idempotency-Key', rule: 'must not be used for two different requests' }],
    });
    return true;
  }
  send(response, found.answer ?? (await settle(answers, once)));
  return true;
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

function send(response: Response, answer: string, secrets: Readonly<Record<string, string>> = {}): void {
  // Whoever stands in between keeps no copy of what is shown once.
  if (Object.keys(secrets).length > 0) response.set('cache-control', 'no-store');
  const { status, body } = jsonObject.parse(JSON.parse(answer));
  const shown = jsonObject.safeParse(body);
  response.status(Number(status)).json(shown.success ? { ...shown.data, ...secrets } : body);
}

function rememberOf(request: Request, { key, asked }: { key: string; asked: unknown }): Remember {
  return {
    scope: digest(JSON.stringify([request.method, request.path, key])),
    fingerprint: digest(canonicalJson(jsonObject.parse(asked))),
  };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
