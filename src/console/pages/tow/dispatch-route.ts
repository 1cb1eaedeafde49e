import { ROUTES } from '../../../contracts/operator-routes';
import type { TowView } from '../../../contracts/operator';
import type { Role } from '../../../domain/vocabulary';
import type { JsonRoute } from '../../../workflow/operator-port';
import type { DoneMessage, Pages, PostedForm } from '../../page';
import { CHANGED_MEANWHILE, submit } from '../../api-calls';
import { bodyOf } from '../../forms';
import { digestOf } from '../../parts/form';
import { readTowView, type TowPageTools } from './model';
import { towPath } from '../../page-table';

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
export function serveDispatch(pages: Pages, tools: TowPageTools): void {
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
