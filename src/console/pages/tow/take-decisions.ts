import { ROUTES } from '../../../contracts/operator-routes';
import { CORRECTABLE_FIELDS } from '../../../domain/outbox';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages, Posted } from '../../serve';
import { enteredValue, type Decision } from './decide';
import type { TowTools } from './index';
import { towPath } from './model';
import { formOfTask } from './tasks';

const DECISION_ROUTES = {
  retry: ROUTES.retryReport,
  correct: ROUTES.correctReport,
  waive: ROUTES.waiveReport,
  accept: ROUTES.acceptReport,
} as const satisfies Record<Decision, unknown>;

/** What people decide about reports, and the tasks that only inform. */
export function takeDecisions(pages: Pages, tools: TowTools): void {
  const actions: readonly Decision[] = ['retry', 'correct', 'waive', 'accept'];
  for (const action of actions) {
    pages.post(`/tows/:ref/reports/:report/${action}`, 'dispatcher', async (posted) => {
      const [ref, report] = [posted.params('ref'), posted.params('report')];
      return carryOut(tools.api, posted, {
        route: DECISION_ROUTES[action],
        params: { towing_reference_id: ref, report_id: report },
        body: action === 'correct' ? await correction(tools, posted) : bodyOf(posted.form, { only: ['reason'] }),
        form: `${action}-${report}`,
        next: towPath(ref),
        done: 'decided',
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
  pages.post('/tows/:ref/tasks/:task/resolve', 'dispatcher', (posted) => {
    const task = posted.params('task');
    return carryOut(tools.api, posted, {
      route: ROUTES.resolveTask,
      params: { task_id: task },
      body: bodyOf(posted.form, { only: ['reason'] }),
      form: formOfTask(task),
      next: towPath(posted.params('ref')),
      done: 'resolved',
      again: (failure) => tools.show(posted, failure),
    });
  });
}

/** Only what was changed is corrected: the record then says what it was, and nothing that stayed. */
async function correction({ progress }: TowTools, { params, form }: Posted) {
  const record = await progress.tows.read(params('ref'));
  const report = record?.reports.find(({ id }) => id === params('report'));
  if (!report) return {};
  const changed = CORRECTABLE_FIELDS[report.kind].filter(
    (name) => (form.get(name) ?? '').trim() !== enteredValue(report, name),
  );
  return bodyOf(form, {
    only: changed,
    numbers: ['latitude', 'longitude', 'delay_in_days'],
    moments: ['status_update_time'],
  });
}
