import { ROUTES } from '../../../contracts/operator-routes';
import { bodyOf } from '../../forms';
import {
  missingRecord,
  page,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageTools,
  type PageVisit,
} from '../../page';
import { differencePath, PAGES, runPath } from '../../page-table';
import { readRoute, submit } from '../../api-calls';
import { EXPECT_FORM, JUDGE_FORM, KindPage, ServicePage } from './view';

/** How the service differs from its document: all of it, and one kind with the webhooks that wait because of it. */
export function serveServicePages(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PAGES.service.path, PAGES.service.role, async ({ viewer, actor }) => {
    const [service, { budgets }] = await Promise.all([
      readRoute(api, ROUTES.readService, { actor }),
      readRoute(api, ROUTES.readSending, { actor }),
    ]);
    return page(viewer.messages.differences.title, <ServicePage viewer={viewer} service={service} budgets={budgets} />);
  });

  const showKind = async (visit: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { viewer, actor, params } = visit;
    const id = params('id');
    const { items } = await readRoute(api, ROUTES.listDifferences, { actor });
    const kind = items.find((each) => each.id === id);
    if (!kind) return missingRecord('difference', id);
    return page(viewer.messages.differences.kindTitle, <KindPage viewer={viewer} kind={kind} failure={failure} />, {
      assets: ['ops.js'],
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };

  pages.get(PAGES.difference.path, PAGES.difference.role, (visit) => showKind(visit, null));

  pages.post('/ops/service/:id/expect', 'ops', (posted) => {
    const id = posted.params('id');
    return submit(api, posted, {
      route: ROUTES.expectDifference,
      form: EXPECT_FORM,
      params: { difference_id: id },
      body: bodyOf(posted.form, { only: ['reason'] }),
      next: differencePath(id),
      done: 'difference_expected',
      again: (failure) => showKind(posted, failure),
    });
  });

  // Previews a run; its page starts it and shows the results.
  pages.post('/ops/service/:id/judge', 'ops', (posted) =>
    submit(api, posted, {
      route: ROUTES.previewRun,
      form: JUDGE_FORM,
      body: { action: 'replay', difference_id: posted.params('id'), ...bodyOf(posted.form, { only: ['reason'] }) },
      next: ({ id }) => runPath(id),
      done: null,
      again: (failure) => showKind(posted, failure),
    }),
  );
}
