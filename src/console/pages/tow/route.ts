import { redirect, type Pages, type PageTools, type PostedForm, type DoneMessage } from '../../page';
import { serveFacts } from './facts-route';
import { readTow, readTowView, type ShowTow, type TowPageTools } from './model';
import { PAGES, towPath } from '../../page-table';
import { missingTow, towPage, towPart } from './view';
import { DECISIONS } from '../../../domain/outbox/decisions';
import { reportDecisionCall } from '../../../workflow/outbox/decision-call';
import { submit, CHANGED_MEANWHILE } from '../../api-calls';
import { decisionBody, correctionIn, submitResolve } from '../../parts/decisions';
import { questionOn, formOfTask } from './decide';
import { ROUTES } from '../../../contracts/operator-routes';
import { uploadOf, bodyOf } from '../../forms';
import type { TowView } from '../../../contracts/operator';
import type { Role } from '../../../domain/vocabulary';
import type { JsonRoute } from '../../../workflow/operator-port';
import { digestOf } from '../../parts/form';

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

interface LocalAction {
  /** The path after that of the tow. */
  readonly path: string;
  readonly route: JsonRoute;
  readonly role: Role;
  readonly done: DoneMessage;
  readonly form: (posted: PostedForm) => string;
  /** What the form replaces, as the `replaces` of its `LocalForm`. */
  readonly replaces?: (tow: TowView) => unknown;
  readonly body: (form: URLSearchParams) => unknown;
}

const only =
  (...names: readonly string[]) =>
  (form: URLSearchParams) =>
    bodyOf(form, { only: names });

const ACTIONS: readonly LocalAction[] = [
  {
    path: 'assignment',
    route: ROUTES.assignTow,
    role: 'dispatcher',
    done: 'assigned',
    form: () => 'assign',
    replaces: ({ dispatch }) => dispatch.assignment,
    body: only('crew', 'truck'),
  },
  {
    path: 'unassignment',
    route: ROUTES.assignTow,
    role: 'dispatcher',
    done: 'saved',
    form: () => 'unassign',
    replaces: ({ dispatch }) => dispatch.assignment,
    body: () => ({ crew: null }),
  },
  {
    path: 'steps',
    route: ROUTES.recordStep,
    role: 'crew',
    done: 'saved',
    form: () => 'steps',
    body: only('step'),
  },
  {
    path: 'yard',
    route: ROUTES.setYard,
    role: 'crew',
    done: 'saved',
    form: () => 'yard',
    replaces: ({ dispatch }) => dispatch.yard,
    body: only('yard', 'slot'),
  },
  {
    path: 'holds',
    route: ROUTES.placeHold,
    role: 'dispatcher',
    done: 'saved',
    form: () => 'hold',
    body: only('reason'),
  },
  {
    path: 'holds/:hold/lift',
    route: ROUTES.liftHold,
    role: 'dispatcher',
    done: 'saved',
    form: (posted) => `lift-${posted.params('hold')}`,
    body: only('reason'),
  },
  {
    path: 'notes',
    route: ROUTES.addNote,
    role: 'crew',
    done: 'saved',
    form: () => 'note',
    body: only('text'),
  },
  {
    path: 'violation',
    route: ROUTES.linkViolation,
    role: 'dispatcher',
    done: 'saved',
    form: () => 'link',
    replaces: (tow) => tow.violation_id,
    body: only('violation_id'),
  },
];

/** Records that towhook keeps and does not report: crew, steps, yard, holds, notes, the linked violation. */
function serveDispatch(pages: Pages, tools: TowPageTools): void {
  for (const { path, route, role, done, form, body, replaces } of ACTIONS) {
    pages.post(`/tows/:ref/${path}`, role, (posted) => {
      const ref = posted.params('ref');
      return submit(tools.api, posted, {
        route,
        params: { towing_reference_id: ref, hold_id: posted.params('hold') },
        body: body(posted.form),
        ...(replaces && { question: () => replacedNow(tools, posted, replaces), overtaken: CHANGED_MEANWHILE }),
        form: form(posted),
        next: towPath(ref),
        done,
        again: (failure) => tools.show(posted, failure),
      });
    });
  }
}

/** The current question of a form that replaces data; null without such a tow. */
async function replacedNow(
  tools: TowPageTools,
  posted: PostedForm,
  replaces: (tow: TowView) => unknown,
): Promise<string | null> {
  const tow = await readTowView(tools, posted);
  return tow && digestOf(replaces(tow));
}
