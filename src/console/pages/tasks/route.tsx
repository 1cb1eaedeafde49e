import {
  redirect,
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
import { PAGES } from '../../page-table';
import { OpenTasks } from '../../parts/navigation';
import { bulkPath, failureOf } from '../bulk/model';
import { BULK_FORM, SCOPES } from './bulk-bar';
import { showLive } from './live';
import { tasksPage } from './view';
import { readQuery, addressOf, filterOf, readTasks, anchorOf } from './model';
import { TASK_ACTIONS, type TaskAction } from '../../../domain/decisions';
import { decisionCall } from '../../../workflow/decision-call';
import { submit } from '../../submit';
import { decisionBody } from '../../parts/decision-form';
import { oneOf } from '../../viewer';
import { correctionIn, questionOfTask } from '../../parts/task';
import { formOf } from './actions';
import { BULK_ACTIONS } from '../../../contracts/bulk';
import type { OperatorApi } from '../../../workflow/operator-port';
import type { BulkRun } from '../../../workflow/bulk-port';

/** The task list, single decisions and bulk decisions. */
export function serveTasks(pages: Pages, tools: Pick<PageTools, 'api' | 'bulk'>): void {
  const show = async ({ viewer, actor, query }: PageVisit, failure: FormFailure | null = null): Promise<PageResult> =>
    tasksPage({ viewer, page: await readTasks(tools.api, actor, readQuery(query)), failure });
  pages.get(PAGES.tasks.path, PAGES.tasks.role, (visit) => show(visit));

  // Posts to the list, so that a refusal keeps its address.
  pages.post('/tasks', 'dispatcher', async (posted) => {
    if (!posted.form.has('bulk')) return decide(tools.api, posted, (failure) => show(posted, failure));
    const chosen = await choose(tools, posted);
    return chosen.ok ? redirect(bulkPath(chosen.run.id)) : show(posted, chosen.failure);
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
async function choose(
  { bulk }: Pick<PageTools, 'bulk'>,
  { form, query, actor }: PostedForm,
): Promise<{ ok: true; run: BulkRun } | { ok: false; failure: FormFailure }> {
  const reason = (form.get('reason') ?? '').trim();
  const asked = {
    action: oneOf(BULK_ACTIONS, form.get('action') ?? undefined),
    ...meant(form, query),
    ...(reason === '' ? {} : { reason }),
  };
  const preview = await bulk.preview(asked, actor);
  return preview.ok ? preview : { ok: false, failure: failureOf(preview.refusal, { form: BULK_FORM, entered: form }) };
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
      return { filter: { type, kind, towing_reference_id: towingReferenceId } };
    }
  }
}
