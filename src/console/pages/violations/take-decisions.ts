import { ROUTES } from '../../../contracts/operator-routes';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages, Posted } from '../../serve';
import type { PageTools } from '../../tools';
import { CORRECTABLE, DECISIONS, enteredValue, type Decision } from './decide';
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
        body: await bodyFor(action, posted, tools),
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
      form: formOfTask(task),
      next: violationPath(posted.params('id')),
      done: 'resolved',
      again: (failure) => tools.show(posted, failure),
    });
  });
}

async function bodyFor(action: Decision, posted: Posted, tools: Tools): Promise<Record<string, unknown>> {
  switch (action) {
    case 'correct':
      return correction(posted, tools);
    case 'accept':
      return bodyOf(posted.form, { only: ['reason', 'violation_reference_id'] });
    case 'waive':
      return bodyOf(posted.form, { only: ['reason'] });
    case 'retry':
      return {};
  }
}

/** Only what was changed is corrected: the record then says what it was, and nothing that stayed. */
async function correction({ params, form }: Posted, { violations }: Tools): Promise<Record<string, unknown>> {
  const record = await violations.read(params('id'));
  if (!record) return {};
  const changed = CORRECTABLE.filter((name) => linesOf(form.get(name) ?? '') !== linesOf(enteredValue(record, name)));
  const body = bodyOf(form, { only: changed, numbers: ['latitude', 'longitude'] });
  const { date, isSaudi } = body;
  return {
    ...body,
    ...(date === undefined ? {} : { date: momentOf(String(date)) }),
    ...(isSaudi === undefined ? {} : { isSaudi: isSaudi === 'true' }),
  };
}

/** A browser breaks lines in its own way. */
function linesOf(text: string): string {
  return text.trim().replaceAll('\r\n', '\n');
}

/** Riyadh time as a browser enters it, to the second and with its offset as ISO 8601 has it. */
function momentOf(entered: string): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(entered) ? `${entered}:00+03:00` : `${entered}+03:00`;
}
