import { ROUTES } from '../../contracts/operator-routes';
import type { Task } from '../../contracts/outbox/records';
import type { DecisionAction, TaskAction } from '../../domain/outbox/decisions';
import { sha256Hex } from '../../platform/hash';
import type { JsonRoute } from '../operator-port';

/** The call of the operator API that carries out a decision. */
interface DecisionCall {
  readonly route: JsonRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** What a decision is about, as a task names it. */
interface DecisionTarget {
  readonly taskId: string;
  readonly towingReferenceId: string | null;
  readonly reportId: string | null;
  readonly violationId: string | null;
  readonly operation: string | null;
  readonly differenceId: string | null;
}

/** The route of each decision. */
const DECISION_ROUTES = {
  correct: { report: ROUTES.correctReport, violation: ROUTES.correctViolation },
  retry: { report: ROUTES.retryReport, violation: ROUTES.retryViolation },
  waive: { report: ROUTES.waiveReport, violation: ROUTES.waiveViolation },
  accept: { report: ROUTES.acceptReport, violation: ROUTES.acceptViolation },
} as const satisfies Record<DecisionAction, Record<'report' | 'violation', JsonRoute>>;

export function reportDecisionCall(
  action: DecisionAction,
  report: { readonly towingReferenceId: string; readonly reportId: string },
): DecisionCall {
  const params = { towing_reference_id: report.towingReferenceId, report_id: report.reportId };
  return { route: DECISION_ROUTES[action].report, params };
}

export function violationDecisionCall(action: DecisionAction, violationId: string): DecisionCall {
  return { route: DECISION_ROUTES[action].violation, params: { violation_id: violationId } };
}

export function resolveTaskCall(taskId: string): DecisionCall {
  return { route: ROUTES.resolveTask, params: { task_id: taskId } };
}

/** The call that carries out an action of a task; null if the task names nothing that the action applies to. */
export function decisionCall(action: TaskAction, target: DecisionTarget): DecisionCall | null {
  const { taskId, towingReferenceId, reportId, violationId, operation, differenceId } = target;
  switch (action) {
    case 'resolve':
      return resolveTaskCall(taskId);
    case 'resume':
      return operation === null ? null : { route: ROUTES.resumeOperation, params: { operation } };
    case 'expect':
      return differenceId === null ? null : { route: ROUTES.expectDifference, params: { difference_id: differenceId } };
    case 'correct':
    case 'retry':
    case 'waive':
    case 'accept':
      // A task about a report may name the violation of its tow too.
      if (reportId !== null && towingReferenceId !== null) {
        return reportDecisionCall(action, { towingReferenceId, reportId });
      }
      return violationId === null ? null : violationDecisionCall(action, violationId);
  }
}

/** A digest of what a task asks. It differs when the task is opened again under the same id, or its text changes. */
export function questionOf({ type, message, actions, opened_at }: Task): string {
  return digestOf([type, message, actions.join(), opened_at ?? '']);
}

/** The SHA-256 of texts, in hexadecimal. */
export function digestOf(texts: readonly string[]): string {
  return sha256Hex(JSON.stringify(texts));
}
