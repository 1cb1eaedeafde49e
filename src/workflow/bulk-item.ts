import type { BulkDocument, BulkResult, BulkTarget } from '../contracts/bulk';
import type { Actor } from '../domain/audit';
import { decisionCall, digestOf, questionOf, type DecisionCall } from './decision-call';
import type { ApiCallRefusal, OperatorApi } from './operator-port';
import type { TaskStore } from './ports';

/** The decision about one task of a bulk run. It can be repeated: its Idempotency-Key lets it take effect once. */

export interface BulkItemTools {
  readonly api: Pick<OperatorApi, 'call' | 'hadEffect'>;
  readonly tasks: Pick<TaskStore, 'read' | 'isStored'>;
}

interface Item {
  readonly document: BulkDocument;
  readonly target: BulkTarget;
}

/** The call that decides one task of a run. */
export interface BulkItemCall extends DecisionCall {
  readonly body: Readonly<Record<string, string>>;
  /** The same for every worker and every try, so that the decision takes effect once. */
  readonly idempotencyKey: string;
}

/** Null if the task names nothing that the decision applies to. */
export function callFor(
  { id, action, reason }: BulkDocument,
  target: Pick<BulkTarget, 'taskId' | 'towingReferenceId' | 'reportId' | 'violationId'>,
): BulkItemCall | null {
  const call = decisionCall(action, { ...target, operation: null, differenceId: null });
  // A retry takes no reason; the run has one only for its audit entry.
  const body = reason === null || action === 'retry' ? {} : { reason };
  return call && { ...call, body, idempotencyKey: `bulk-${id}-${digestOf([target.taskId])}` };
}

export type BulkItemTry =
  | { readonly kind: 'settled'; readonly result: BulkResult }
  /** The API is unable to decide now. It had no effect. */
  | { readonly kind: 'later'; readonly afterMs: number };

/** Decides a task, unless it has changed since it was chosen. Rejects if the effect is uncertain: call it again. */
export async function decideItem(
  tools: BulkItemTools,
  { document, target, actor }: Item & { readonly actor: Actor },
): Promise<BulkItemTry> {
  const call = callFor(document, target);
  if (!call) return settled('refused', NOTHING_TO_DECIDE);
  const asked = await askedNow(tools, target);
  if (asked !== 'yes') {
    // The decision closes the task: this run may have made it without recording the result.
    if (await wasMade(tools, call)) return settled('done');
    return asked === 'no' ? settled('gone', ASKED_NO_MORE) : { kind: 'later', afterMs: 0 };
  }
  const { route, params, body, idempotencyKey } = call;
  const answer = await tools.api.call(route, { actor, params, body, idempotencyKey });
  if (answer.ok) return settled('done');
  const { refusal } = answer;
  if (isPassing(refusal)) return { kind: 'later', afterMs: refusal.retryAfterMs ?? 0 };
  const words = { code: refusal.code, message: refusal.message };
  return settled((await askedNow(tools, target)) === 'no' ? 'gone' : 'refused', words);
}

/** The result of a task that a run may have decided: `done`, or `otherwise` if it did not. Decides nothing. */
export async function bulkResultOf(
  tools: Pick<BulkItemTools, 'api'>,
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

function wasMade({ api }: Pick<BulkItemTools, 'api'>, call: BulkItemCall): Promise<boolean> {
  return api.hadEffect(call.route, call);
}

/** `unreadable`: the task is open, but of a later version, or sealed under a data key that this worker reads later. */
async function askedNow(
  { tasks }: Pick<BulkItemTools, 'tasks'>,
  target: BulkTarget,
): Promise<'yes' | 'no' | 'unreadable'> {
  const { taskId, question } = target;
  const task = await tasks.read(taskId);
  if (task === null) return (await tasks.isStored(taskId)) ? 'unreadable' : 'no';
  return questionOf(task) === question ? 'yes' : 'no';
}

/** Refusals that pass within seconds: a call of the same record is being made. */
const IN_FLIGHT: readonly string[] = ['report_in_flight', 'violation_in_flight'];

function isPassing({ httpStatus, retryAfterMs, code }: ApiCallRefusal): boolean {
  return httpStatus === 429 || httpStatus >= 500 || retryAfterMs !== null || IN_FLIGHT.includes(code);
}

function settled(outcome: BulkResult['outcome'], words: BulkResult['words'] = null): BulkItemTry {
  return { kind: 'settled', result: { outcome, words } };
}
