import { redirect, type Pages, type PageTools, type PostedForm } from '../../page';
import { serveFacts } from './facts-route';
import { serveDispatch } from './dispatch-route';
import { readTow, readTowView, type ShowTow, type TowPageTools } from './model';
import { PAGES, towPath } from '../../page-table';
import { missingTow, towPage, towPart } from './view';
import { DECISIONS } from '../../../domain/outbox/decisions';
import { reportDecisionCall } from '../../../workflow/outbox/decision-call';
import { submit } from '../../api-calls';
import { decisionBody, correctionIn, submitResolve } from '../../parts/decisions';
import { questionOn, formOfTask } from './decide';
import { ROUTES } from '../../../contracts/operator-routes';
import { uploadOf } from '../../forms';

/** The page of one tow, and everything that can be said and decided there. */
export function serveTow(pages: Pages, tools: PageTools): void {
  const show: ShowTow = async (visit, failure = null) => {
    const model = await readTow(tools, visit, failure);
    if (!model) return missingTow(visit.viewer, visit.params('ref'));
    return visit.wantsPart ? towPart(model) : towPage(model);
  };
  pages.get(PAGES.tow.path, PAGES.tow.role, (visit) => show(visit));
  serveFacts(pages, { ...tools, show });
  serveDecisions(pages, { ...tools, show });
  serveDispatch(pages, { ...tools, show });
  servePhotos(pages, { ...tools, show });
}

/** Decisions on reports, and closing of informative tasks. */
function serveDecisions(pages: Pages, tools: TowPageTools): void {
  for (const action of DECISIONS) {
    pages.post(`/tows/:ref/reports/:report/${action}`, 'dispatcher', async (posted) => {
      const [ref, report] = [posted.params('ref'), posted.params('report')];
      return submit(tools.api, posted, {
        ...reportDecisionCall(action, { towingReferenceId: ref, reportId: report }),
        body: action === 'correct' ? correctionIn(posted.form) : decisionBody(action, posted.form),
        question: () => questionNow(tools, posted),
        form: `${action}-${report}`,
        next: towPath(ref),
        done: 'decided',
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
  pages.post('/tows/:ref/tasks/:task/resolve', 'dispatcher', (posted) =>
    submitResolve(tools, posted, { formOfTask, next: towPath(posted.params('ref')) }),
  );
}

/** The current question of the report. */
async function questionNow(tools: TowPageTools, posted: PostedForm): Promise<string | null> {
  const tow = await readTowView(tools, posted);
  const report = tow?.reports.find(({ id }) => id === posted.params('report'));
  return tow && report ? questionOn(tow, report) : null;
}

/** Uploads photos. The API reads the request and streams it to disk. */
function servePhotos(pages: Pages, tools: TowPageTools): void {
  pages.upload('/tows/:ref/photos', 'crew', async (visit) => {
    const ref = visit.params('ref');
    const answer = await tools.api.form(ROUTES.addPhotos, {
      ...uploadOf(visit),
      params: { towing_reference_id: ref },
    });
    if (answer.ok) return redirect(towPath(ref), 'saved');
    const { refusal } = answer;
    return tools.show(visit, { form: 'photos', refusal, entered: new URLSearchParams() });
  });
}
