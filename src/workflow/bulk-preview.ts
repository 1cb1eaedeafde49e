import { BULK_TASKS_MAX, bulkPreviewBody, type BulkDocument, type BulkPreviewBody } from '../contracts/bulk';
import type { Task } from '../contracts/records';
import { failedRules } from '../contracts/rules';
import type { Actor } from '../domain/audit';
import { ACTION_ROLES } from '../domain/decisions';
import { forbidden, invalid, type Decision, type Refusal } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import { ASKED_NO_MORE, callFor, NOTHING_TO_DECIDE } from './bulk-item';
import type { ChosenTask } from './bulk-port';
import { questionOf } from './decision-call';
import { isEmptyFilter } from './list-port';
import type { TaskStore } from './ports';

/** The choice of the tasks of a bulk run. The run decides exactly these. */

export interface PreviewTools {
  readonly tasks: Pick<TaskStore, 'readMany' | 'ids'>;
}

export interface Preview {
  readonly document: BulkDocument;
  readonly chosen: readonly ChosenTask[];
}

/**
 * Chooses the tasks that `asked` (`bulkPreviewBody`) names or filters now. Refused without the role of the decision, and if
 * the choice is empty or larger than BULK_TASKS_MAX. No chosen task is left out silently.
 */
export async function previewOf(
  tools: PreviewTools,
  { id, asked, actor }: { id: string; asked: unknown; actor: Actor },
): Promise<Decision<{ preview: Preview }>> {
  const parsed = bulkPreviewBody.safeParse(asked);
  if (!parsed.success) return invalid(failedRules(parsed.error));
  const { action, reason = null } = parsed.data;
  const role = ACTION_ROLES[action];
  if (!roleAllows(actor.role, role)) return forbidden(`This needs the role ${role}.`);
  const document = { id, by: actor, action, reason };
  const meant = await idsMeant(tools, parsed.data);
  if (!meant.ok) return meant;
  const open = new Map((await tools.tasks.readMany(meant.ids)).map((task) => [task.id, task]));
  const chosen = meant.ids.map((taskId) => chosenTask(document, taskId, open.get(taskId) ?? null));
  return { ok: true, preview: { document, chosen } };
}

/** The chosen ids, each once. Refused if they are none or too many. */
async function idsMeant(
  { tasks }: PreviewTools,
  { task_ids: named, filter }: BulkPreviewBody,
): Promise<Decision<{ ids: readonly string[] }>> {
  if (named !== undefined && filter !== undefined) return refusedChoice(BOTH);
  if (named !== undefined) {
    const ids = [...new Set(named)];
    if (ids.length === 0) return refusedChoice(NOTHING);
    return ids.length > BULK_TASKS_MAX ? refusedChoice(TOO_MANY) : { ok: true, ids };
  }
  const { type, kind, towing_reference_id: towingReferenceId } = filter ?? {};
  const meant = { type, kind, towingReferenceId };
  if (isEmptyFilter(meant)) return refusedChoice(filter ? EMPTY_FILTER : NOTHING);
  // Oldest first. One id more than allowed shows that there are too many.
  const ids = await tasks.ids(meant, BULK_TASKS_MAX + 1);
  if (ids.length === 0) return refusedChoice(NOTHING_FOUND);
  return ids.length > BULK_TASKS_MAX ? refusedChoice(TOO_MANY) : { ok: true, ids };
}

/** A chosen task; `task` is null if it is not open. */
function chosenTask(document: BulkDocument, taskId: string, task: Task | null): ChosenTask {
  if (task === null) {
    const nothing = { towingReferenceId: null, reportId: null, violationId: null };
    const target = { taskId, question: '', taskType: '', ...nothing };
    return { target, result: { outcome: 'gone', words: ASKED_NO_MORE } };
  }
  const target = {
    taskId,
    question: questionOf(task),
    taskType: task.type,
    towingReferenceId: task.towing_reference_id ?? null,
    reportId: task.report_id ?? null,
    violationId: task.violation_id ?? null,
  };
  if (callFor(document, target) === null) return { target, result: { outcome: 'refused', words: NOTHING_TO_DECIDE } };
  if (task.actions.includes(document.action)) return { target, result: null };
  const offered = task.actions.join(', ') || 'it closes by itself';
  return {
    target,
    result: { outcome: 'refused', words: { code: 'action_not_offered', message: `It can be decided so: ${offered}.` } },
  };
}

const NOTHING = ['nothing_chosen', 'task_ids', 'must name at least one task'] as const;
const EMPTY_FILTER = [
  'nothing_chosen',
  'filter',
  'must name at least one value: an empty filter does not select all tasks',
] as const;
const NOTHING_FOUND = ['nothing_found', 'filter', 'must be true of at least one open task'] as const;
const BOTH = ['two_choices', 'filter', 'must not be given with task_ids'] as const;
const TOO_MANY = ['too_many_tasks', 'task_ids', `must be at most ${BULK_TASKS_MAX} tasks`] as const;

function refusedChoice([code, field, rule]: readonly [code: string, field: string, rule: string]): {
  ok: false;
  refusal: Refusal;
} {
  return { ok: false, refusal: { ...invalid([{ field, rule }]).refusal, code } };
}
