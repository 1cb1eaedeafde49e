import type { BulkDocument, BulkTarget } from '../contracts/bulk';
import type { Actor } from '../domain/audit';
import { callFor, questionOf } from './bulk-call';
import type { BulkResult } from './bulk-port';
import type { ApiRefusal, OperatorApi } from './operator-port';
import type { TaskStore } from './ports';

/** Deciding one task of a bulk run, as often as it takes and never twice. */

export interface DecideTools {
  readonly api: Pick<OperatorApi, 'call' | 'remembers'>;
  readonly tasks: Pick<TaskStore, 'read'>;
}

export interface Item {
  readonly document: BulkDocument;
  readonly target: BulkTarget;
  readonly actor: Actor;
  /** Somebody may have decided it for this run before, without being able to say so. */
  readonly mayHaveRun: boolean;
  /** Asked last of all: false when another process may have the run by now. */
  readonly isOurs: () => boolean;
}

export type Tried =
  | { readonly kind: 'settled'; readonly result: BulkResult }
  /** The API says to come back. It had no effect. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** Another process may have the run. Nothing was done. */
  | { readonly kind: 'not_ours' };

/**
 * Decides a task, if it still asks what it asked when it was chosen. Rejects when nobody knows whether it was decided:
 * then it is tried again with `mayHaveRun`.
 */
export async function decideItem(tools: DecideTools, item: Item): Promise<Tried> {
  const call = callFor(item.document, item.target);
  if (!call) return settled('refused', NOTHING_TO_DECIDE);
  // Before anything else: what was decided has closed the task, and would seem to be gone.
  if (item.mayHaveRun && (await tools.api.remembers(call.route, call))) return settled('done');
  if (!(await isStillAsked(tools, item.target))) return settled('gone', ASKED_NO_MORE);
  if (!item.isOurs()) return { kind: 'not_ours' };
  const { route, params, body, idempotencyKey } = call;
  const answer = await tools.api.call(route, { actor: item.actor, params, body, idempotencyKey });
  if (answer.ok) return settled('done');
  const { refusal } = answer;
  if (isPassing(refusal)) return { kind: 'later', afterMs: refusal.retryAfterMs ?? 0 };
  const words = { code: refusal.code, message: refusal.message };
  return settled((await isStillAsked(tools, item.target)) ? 'refused' : 'gone', words);
}

/** What became of a task that was begun by a run that is over: decided, or else skipped. */
export async function whatBecameOf(
  tools: Pick<DecideTools, 'api'>,
  { document, target }: Pick<Item, 'document' | 'target'>,
): Promise<BulkResult> {
  const call = callFor(document, target);
  const wasDone = call !== null && (await tools.api.remembers(call.route, call));
  return { outcome: wasDone ? 'done' : 'skipped', words: null };
}

export const NOTHING_TO_DECIDE = { code: 'nothing_to_decide', message: 'There is nothing to decide so about it.' };
export const ASKED_NO_MORE = {
  code: 'asked_no_more',
  message: 'What was asked when it was chosen is no longer asked: somebody decided, or it changed by itself.',
};

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
