import {
  part,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
  missing,
  type DoneMessage,
  type PostedForm,
} from '../../page';
import { PAGES, runPath } from '../../page-table';
import { OpenTasks } from '../../parts/navigation';
import { BULK_FORM, SCOPES } from './bulk-bar';
import { showLive } from './live';
import { tasksPage } from './view';
import { readQuery, addressOf, filterOf, readTasks, anchorOf } from './model';
import { TASK_ACTIONS, type TaskAction } from '../../../domain/outbox/decisions';
import { decisionCall } from '../../../workflow/outbox/decision-call';
import { submit } from '../../api-calls';
import { decisionBody, correctionIn, questionOfTask } from '../../parts/decisions';
import { oneOf } from '../../viewer';
import { formOf } from './actions';
import { ROUTES } from '../../../contracts/operator-routes';
import type { OperatorApi } from '../../../workflow/operator-port';

/** The task list, single decisions and bulk decisions. */
export function serveTasks(pages: Pages, tools: Pick<PageTools, 'api'>): void {
  const show = async ({ viewer, actor, query }: PageVisit, failure: FormFailure | null = null): Promise<PageResult> =>
    tasksPage({ viewer, page: await readTasks(tools.api, actor, readQuery(query)), failure });
  pages.get(PAGES.tasks.path, PAGES.tasks.role, (visit) => show(visit));

  // Posts to the list, so that a refusal keeps its address.
  pages.post('/tasks', 'dispatcher', async (posted) => {
    if (!posted.form.has('bulk')) return decide(tools.api, posted, (failure) => show(posted, failure));
    return preview(tools, posted, (failure) => show(posted, failure));
  });

  pages.post('/tasks/live', 'viewer', (posted) => showLive(tools, posted));

  pages.get('/tasks/count', 'viewer', ({ viewer }) => Promise.resolve(part(<OpenTasks viewer={viewer} />)));
}

/**
 * Submits a decision and redirects to the list, at the next row. Refused as `asked_no_more` if the task now asks
 * another question, because someone decided or the state changed.
 */
async function decide(
  api: OperatorApi,
  posted: PostedForm,
  again: (failure: FormFailure) => Promise<PageResult>,
): Promise<PageResult> {
  const { form, query } = posted;
  const decision = oneOf(TASK_ACTIONS, form.get('decision') ?? undefined);
  const call = decision && callFor(decision, form);
  const id = form.get('task') ?? '';
  if (!call) return missing;
  const next = /^task-[0-9a-f]+$/.test(form.get('next') ?? '') ? `#${form.get('next')}` : '';
  return submit(api, posted, {
    ...call,
    form: formOf(anchorOf(id), decision),
    again,
    question: () => questionOfTask(api, posted.actor, id),
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
  expect: 'difference_expected',
} as const satisfies Record<TaskAction, DoneMessage>;

/** Null if the form names nothing that the decision applies to. A violation is corrected on its own page. */
function callFor(decision: TaskAction, form: URLSearchParams) {
  const named = (name: string) => form.get(name) || null;
  const reportId = named('report');
  if (decision === 'correct' && reportId === null) return null;
  const call = decisionCall(decision, {
    taskId: named('task') ?? '',
    towingReferenceId: named('tow'),
    reportId,
    violationId: named('violation'),
    operation: named('operation'),
    differenceId: named('difference'),
  });
  return call && { ...call, body: decision === 'correct' ? correctionIn(form) : decisionBody(decision, form) };
}

/** Previews a bulk decision. */
function preview(
  { api }: Pick<PageTools, 'api'>,
  posted: PostedForm,
  again: (failure: FormFailure) => Promise<PageResult>,
): Promise<PageResult> {
  const { form, query } = posted;
  const reason = (form.get('reason') ?? '').trim();
  return submit(api, posted, {
    route: ROUTES.previewRun,
    form: BULK_FORM,
    body: { action: form.get('action'), ...meant(form, query), ...(reason === '' ? {} : { reason }) },
    next: ({ id }) => runPath(id),
    done: null,
    again,
  });
}

/** An empty filter is passed on; the rules decide what it means. */
function meant(form: URLSearchParams, query: URLSearchParams) {
  switch (oneOf(SCOPES, form.get('scope') ?? undefined) ?? 'ticked') {
    case 'ticked':
      return { task_ids: form.getAll('chosen') };
    case 'page':
      return { task_ids: form.getAll('shown') };
    case 'filter': {
      const { type, kind, towingReferenceId } = filterOf(readQuery(query));
      return { type, kind, towing_reference_id: towingReferenceId };
    }
  }
}
