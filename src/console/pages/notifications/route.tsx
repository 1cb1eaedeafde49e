import type { Actor } from '../../../domain/ops/audit';
import { ROUTES } from '../../../contracts/operator-routes';
import { NOTICE_CHANNELS } from '../../../domain/ops/notification-settings';
import { page, type FormFailure, type PageResult, type Pages, type PageTools, type PageVisit } from '../../page';
import { PAGES } from '../../page-table';
import { readRoute } from '../../api-calls';
import { oneOf } from '../../viewer';
import { NotificationsPage, type TestResult } from './view';

const PATH = PAGES.notifications.path;

/** The page of notifications: the state of the channels, and a test of each. */
export function serveNotifications(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const read = (actor: Actor) => readRoute(api, ROUTES.readNotifications, { actor });
  const show = async (
    { viewer, actor }: PageVisit,
    shown: { readonly failure: FormFailure | null; readonly tested?: TestResult },
  ): Promise<PageResult> => {
    const { failure, tested = null } = shown;
    const view = await read(actor);
    return page(
      viewer.messages.ops.tab.notifications,
      <NotificationsPage viewer={viewer} view={view} failure={failure} tested={tested} />,
      { httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PATH, PAGES.notifications.role, (visit) => show(visit, { failure: null }));

  pages.post(`${PATH}/test`, 'ops', async (posted) => {
    const channel = oneOf(NOTICE_CHANNELS, posted.form.get('channel') ?? undefined);
    const answer = await api.call(ROUTES.testNotifications, { actor: posted.actor, body: { channel } });
    if (channel === null || !answer.ok) {
      if (answer.ok) return show(posted, { failure: null });
      return show(posted, { failure: { form: 'test', refusal: answer.refusal, entered: posted.form } });
    }
    return show(posted, { failure: null, tested: { channel, ...answer.value } });
  });
}
