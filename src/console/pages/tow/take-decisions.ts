import { ROUTES } from '../../../contracts/operator-routes';
import { carryOut } from '../../carry-out';
import { bodyOf } from '../../entries';
import type { Pages, Posted } from '../../serve';
import { questionOfTask } from '../tasks/decide';
import { correctionIn } from './correction';
import { questionOn, type Decision } from './decide';
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
        body: action === 'correct' ? correctionIn(posted.form) : bodyOf(posted.form, { only: ['reason'] }),
        question: () => questionNow(tools, posted),
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
      question: () => questionOfTask(tools.tasks, task),
      form: formOfTask(task),
      next: towPath(posted.params('ref')),
      done: 'resolved',
      again: (failure) => tools.show(posted, failure),
    });
  });
}

/** What is asked about the report of the form by now. */
async function questionNow({ progress }: TowTools, { params }: Posted): Promise<string | null> {
  const record = await progress.tows.read(params('ref'));
  const report = record?.reports.find(({ id }) => id === params('report'));
  return record && report ? questionOn(record, report) : null;
}
