import { ROUTES } from '../../../contracts/operator-routes';
import { violationContractTaskId, violationTaskId } from '../../../domain/violation-tasks';
import { carryOut } from '../../carry-out';
import { changedIn } from '../../changes';
import { bodyOf } from '../../entries';
import type { Pages, Posted } from '../../serve';
import type { PageTools } from '../../tools';
import { questionOfTask } from '../tasks/decide';
import { DECISIONS, questionOn, type Decision } from './decide';
import { formOfTask } from './head';
import type { ShowViolation } from './page';
import { violationPath } from './rows';

const DECISION_ROUTES = {
  retry: ROUTES.retryViolation,
  correct: ROUTES.correctViolation,
  waive: ROUTES.waiveViolation,
  accept: ROUTES.acceptViolation,
} as const satisfies Record<Decision, unknown>;

type Tools = PageTools & { readonly show: ShowViolation };

/** What people decide about a violation, and the tasks about it that only inform. */
export function takeDecisions(pages: Pages, tools: Tools): void {
  for (const action of DECISIONS) {
    pages.post(`/violations/:id/${action}`, 'dispatcher', async (posted) => {
      const id = posted.params('id');
      return carryOut(tools.api, posted, {
        route: DECISION_ROUTES[action],
        params: { violation_id: id },
        body: bodyFor(action, posted.form),
        question: () => questionNow(tools, posted),
        form: action,
        next: violationPath(id),
        done: 'decided',
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
  pages.post('/violations/:id/tasks/:task/resolve', 'dispatcher', (posted) => {
    const task = posted.params('task');
    return carryOut(tools.api, posted, {
      route: ROUTES.resolveTask,
      params: { task_id: task },
      body: bodyOf(posted.form, { only: ['reason'] }),
      question: () => questionOfTask(tools.tasks, task),
      form: formOfTask(task),
      next: violationPath(posted.params('id')),
      done: 'resolved',
      again: (failure) => tools.show(posted, failure),
    });
  });
}

function bodyFor(action: Decision, form: URLSearchParams): Record<string, unknown> {
  switch (action) {
    case 'correct':
      return correctionIn(form);
    case 'accept':
      return bodyOf(form, { only: ['reason', 'violation_reference_id'] });
    case 'waive':
      return bodyOf(form, { only: ['reason'] });
    case 'retry':
      return {};
  }
}

/** Only what was changed is corrected: the record then says what it was, and nothing that stayed. */
function correctionIn(form: URLSearchParams): Record<string, unknown> {
  const body = bodyOf(form, { only: changedIn(form), numbers: ['latitude', 'longitude'] });
  const { date, isSaudi } = body;
  return {
    ...body,
    ...(date === undefined ? {} : { date: momentOf(String(date)) }),
    ...(isSaudi === undefined ? {} : { isSaudi: isSaudi === 'true' }),
  };
}

/** What is asked about the violation of the form by now. */
async function questionNow({ violations, tasks }: Tools, { params }: Posted): Promise<string | null> {
  const record = await violations.read(params('id'));
  if (!record) return null;
  const { id } = record.violation;
  return questionOn(record, await tasks.readMany([violationTaskId(id), violationContractTaskId(id)]));
}

/** Riyadh time as a browser enters it, to the second and with its offset as ISO 8601 has it. */
function momentOf(entered: string): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(entered) ? `${entered}:00+03:00` : `${entered}+03:00`;
}
