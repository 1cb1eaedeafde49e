import { ROUTES } from '../../../contracts/operator-routes';
import { TASK_ACTIONS, type TaskAction } from '../../../domain/tasks';
import { questionOf } from '../../../workflow/bulk-call';
import type { JsonRoute } from '../../../workflow/operator-port';
import { missing, type Done, type Failure, type Shown } from '../../answers';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Posted } from '../../serve';
import type { PageTools } from '../../tools';
import { oneOf } from '../../viewer';
import { correctionIn } from '../tow/correction';
import { formOf } from './actions';
import { addressOf, readQuery } from './query';
import { anchorOf } from './read';

/** What a form of the list asks of the API. */
interface Call {
  readonly route: JsonRoute;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, string | number>>;
}

/**
 * Decides on a task as its form says, and leads back to the list, to the row behind it. Refused as `asked_no_more` when
 * the task does not ask any more what it asked when the form was made: somebody else was faster, or it changed by itself.
 */
export async function decide(
  { api, tasks }: Pick<PageTools, 'api' | 'tasks'>,
  posted: Posted,
  again: (failure: Failure) => Promise<Shown>,
): Promise<Shown> {
  const { form, query } = posted;
  const decision = oneOf(TASK_ACTIONS, form.get('decision') ?? undefined);
  const call = decision && callFor(decision, form);
  const id = form.get('task') ?? '';
  if (!call) return missing;
  const next = /^task-[0-9a-f]+$/.test(form.get('next') ?? '') ? `#${form.get('next')}` : '';
  return carryOut(api, posted, {
    ...call,
    form: formOf(anchorOf(id), decision),
    again,
    question: () => questionOfTask(tasks, id),
    next: `${addressOf(readQuery(query))}${next}`,
    done: DONE[decision],
  });
}

const DONE = {
  correct: 'corrected',
  retry: 'retried',
  waive: 'waived',
  accept: 'accepted_by_hand',
  resolve: 'resolved',
  resume: 'operation_resumed',
} as const satisfies Record<TaskAction, Done>;

/** What a task asks by now; nothing any more is something else than it asked before. */
export async function questionOfTask(tasks: Pick<PageTools['tasks'], 'read'>, id: string): Promise<string> {
  const task = await tasks.read(id);
  return task === null ? '' : questionOf(task);
}

/** Null when the form names nothing that can be decided so. */
function callFor(decision: TaskAction, form: URLSearchParams): Call | null {
  const named = (name: string) => form.get(name) ?? '';
  const body = decision === 'correct' ? correctionIn(form) : bodyOf(form, { only: FIELDS[decision] });
  if (decision === 'resolve') return { route: ROUTES.resolveTask, params: { task_id: named('task') }, body };
  if (decision === 'resume') return { route: ROUTES.resumeOperation, params: { operation: named('operation') }, body };
  if (named('report') !== '') {
    const params = { towing_reference_id: named('tow'), report_id: named('report') };
    return { route: REPORT_ROUTES[decision], params, body };
  }
  if (named('violation') === '' || decision === 'correct') return null;
  return { route: VIOLATION_ROUTES[decision], params: { violation_id: named('violation') }, body };
}

const FIELDS: Readonly<Record<Exclude<TaskAction, 'correct'>, readonly string[]>> = {
  retry: [],
  waive: ['reason'],
  accept: ['reason', 'violation_reference_id'],
  resolve: ['reason'],
  resume: ['reason'],
};

const REPORT_ROUTES = {
  correct: ROUTES.correctReport,
  retry: ROUTES.retryReport,
  waive: ROUTES.waiveReport,
  accept: ROUTES.acceptReport,
} as const;

const VIOLATION_ROUTES = {
  retry: ROUTES.retryViolation,
  waive: ROUTES.waiveViolation,
  accept: ROUTES.acceptViolation,
} as const;
