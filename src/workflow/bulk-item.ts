import type { BulkDocument, BulkResult, BulkTarget } from '../contracts/bulk';
import type { Actor } from '../domain/audit';
import { callFor, questionOf, type DecidingCall } from './bulk-call';
import type { ApiRefusal, OperatorApi } from './operator-port';
import type { TaskStore } from './ports';

/** The decision on one task of a bulk run. It can be repeated: its effect happens once, under its Idempotency-Key. */

export interface DecideTools {
  readonly api: Pick<OperatorApi, 'call' | 'remembers'>;
  readonly tasks: Pick<TaskStore, 'read'>;
}

interface Item {
  readonly document: BulkDocument;
  readonly target: BulkTarget;
}

export type Tried =
  | { readonly kind: 'settled'; readonly result: BulkResult }
  /** The API is unable to decide now. It had no effect. */
  | { readonly kind: 'later'; readonly afterMs: number };

/** Decides a task that still asks what it asked when it was chosen. Rejects when the effect is uncertain: call it again. */
export async function decideItem(
  tools: DecideTools,
  { document, target, actor }: Item & { readonly actor: Actor },
): Promise<Tried> {
  const call = callFor(document, target);
  if (!call) return settled('refused', NOTHING_TO_DECIDE);
  if (!(await isStillAsked(tools, target))) {
    // The decision closes the task: this run may have made it without recording the result.
    return (await wasMade(tools, call)) ? settled('done') : settled('gone', ASKED_NO_MORE);
  }
  const { route, params, body, idempotencyKey } = call;
  const answer = await tools.api.call(route, { actor, params, body, idempotencyKey });
  if (answer.ok) return settled('done');
  const { refusal } = answer;
  if (isPassing(refusal)) return { kind: 'later', afterMs: refusal.retryAfterMs ?? 0 };
  const words = { code: refusal.code, message: refusal.message };
  return settled((await isStillAsked(tools, target)) ? 'refused' : 'gone', words);
}

/** The result of a task that a run may have decided, without deciding it: `otherwise` when it did not. */
export async function resultOf(
  tools: Pick<DecideTools, 'api'>,
  { document, target }: Item,
  otherwise: BulkResult,
): Promise<BulkResult> {
  const call = callFor(document, target);
  return call !== null && (await wasMade(tools, call)) ? { outcome: 'done', words: null } : otherwise;
}

export const NOTHING_TO_DECIDE = { code: 'nothing_to_decide', message: 'There is nothing to decide so about it.' };
export const ASKED_NO_MORE = {
  code: 'asked_no_more',
  message: 'The task is closed or has changed since it was chosen.',
};
export const NOT_DECIDED = {
  code: 'not_decided',
  message: 'The decision failed several times. Open the task and decide on it there.',
};

function wasMade({ api }: Pick<DecideTools, 'api'>, call: DecidingCall): Promise<boolean> {
  return api.remembers(call.route, call);
}

async function isStillAsked({ tasks }: Pick<DecideTools, 'tasks'>, target: BulkTarget): Promise<boolean> {
  const task = await tasks.read(target.taskId);
  return task !== null && questionOf(task) === target.question;
}

function isPassing({ httpStatus, retryAfterMs }: ApiRefusal): boolean {
  return httpStatus === 429 || httpStatus >= 500 || retryAfterMs !== null;
}

function settled(outcome: BulkResult['outcome'], words: BulkResult['words'] = null): Tried {
  return { kind: 'settled', result: { outcome, words } };
}
