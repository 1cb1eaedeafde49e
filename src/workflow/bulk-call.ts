import { createHash } from 'node:crypto';
import type { BulkAction, BulkDocument, BulkTarget } from '../contracts/bulk';
import { ROUTES } from '../contracts/operator-routes';
import type { Task } from '../contracts/records';
import type { Role } from '../domain/vocabulary';
import type { ApiCall, JsonRoute } from './operator-port';

/** From one task of a bulk run to the call of the operator API that decides it. */

/** A call without whoever makes it. */
export interface DecidingCall {
  readonly route: JsonRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly body: ApiCall['body'];
  /** The same for this task of this run whoever runs it and however often: its effect is had once. */
  readonly idempotencyKey: string;
}

/** The call that decides a task so; null when the task is about nothing that can be decided so. */
export function callFor(
  { id, action, reason }: BulkDocument,
  target: Pick<BulkTarget, 'taskId' | 'towingReferenceId' | 'reportId' | 'violationId'>,
): DecidingCall | null {
  const about = subjectOf(action, target);
  const body = reason === null || action === 'retry' ? {} : { reason };
  return about && { ...about, body, idempotencyKey: `bulk-${id}-${digest([target.taskId])}` };
}

/** The weakest role that may make such a decision, as the API has it. */
export function roleFor(action: BulkAction): Role {
  return DECISIONS[action].role;
}

/** Tells what a task asked when it was chosen from what it may ask later under the same id. */
export function questionOf({ type, message, actions, opened_at }: Task): string {
  return digest([type, message, actions.join(), opened_at ?? '']);
}

const DECISIONS = {
  retry: ROUTES.retryReport,
  waive: ROUTES.waiveReport,
  accept: ROUTES.acceptReport,
  resolve: ROUTES.resolveTask,
} as const satisfies Record<BulkAction, JsonRoute>;

const VIOLATION_DECISIONS = {
  retry: ROUTES.retryViolation,
  waive: ROUTES.waiveViolation,
  accept: ROUTES.acceptViolation,
} as const satisfies Record<Exclude<BulkAction, 'resolve'>, JsonRoute>;

function subjectOf(
  action: BulkAction,
  { taskId, towingReferenceId, reportId, violationId }: Parameters<typeof callFor>[1],
): Pick<DecidingCall, 'route' | 'params'> | null {
  if (action === 'resolve') return { route: DECISIONS.resolve, params: { task_id: taskId } };
  if (reportId !== null && towingReferenceId !== null) {
    const params = { towing_reference_id: towingReferenceId, report_id: reportId };
    return { route: DECISIONS[action], params };
  }
  return violationId === null ? null : { route: VIOLATION_DECISIONS[action], params: { violation_id: violationId } };
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
