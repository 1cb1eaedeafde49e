import { ROUTES } from '../../../contracts/operator-routes';
import { differenceTaskId } from '../../../domain/tasks';
import { reportDecisionCall, resolveTaskCall, violationDecisionCall } from '../../../workflow/decision-call';
import { differenceViewOf } from '../../../workflow/expect-difference';
import { bodyOf } from '../../forms';
import {
  missingRecord,
  page,
  redirect,
  part,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageTools,
  type PageVisit,
} from '../../page';
import { differencePath, PAGES } from '../../page-table';
import { readRoute, submit } from '../../submit';
import { Judging, JUDGE_FORM } from './judge';
import { bulkPath, failureOf } from '../bulk/model';
import { CLOSE_FORM, EXPECT_FORM, KindPage, SEND_ALL_FORM, sendAgainForm } from './kind';
import { ServicePage } from './view';

type ServicePageTools = Pick<PageTools, 'api' | 'bulk' | 'differences'>;

const REPORTS_PER_PAGE = '20';

/** How the service differs from its document: all of it, and one kind with the reports that it concerns. */
export function serveServicePages(pages: Pages, { api, bulk, differences }: ServicePageTools): void {
  pages.get(PAGES.service.path, PAGES.service.role, async ({ viewer, actor }) => {
    const [service, { budgets }] = await Promise.all([
      readRoute(api, ROUTES.readService, { actor }),
      readRoute(api, ROUTES.readSending, { actor }),
    ]);
    return page(viewer.messages.differences.title, <ServicePage viewer={viewer} service={service} budgets={budgets} />);
  });

  const previewOf = async ({ actor }: PageVisit, id: string) => {
    const preview = await api.call(ROUTES.previewJudgement, { actor, params: { difference_id: id } });
    return preview.ok ? preview.value : null;
  };
  const showKind = async (visit: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { viewer, params, query } = visit;
    const id = params('id');
    const kind = await differences.read(id);
    if (!kind) return missingRecord('difference', id);
    const keepsWebhooks = kind.source === 'webhook' && !kind.isTolerated;
    const preview = keepsWebhooks ? await previewOf(visit, id) : null;
    if (visit.wantsPart && preview) {
      return part(<Judging viewer={viewer} differenceId={id} preview={preview} failure={null} />);
    }
    const cursor = query.get('cursor');
    const [reports, count] = await Promise.all([
      api.call(ROUTES.listDifferingReports, {
        actor: visit.actor,
        params: { difference_id: id },
        query: { limit: REPORTS_PER_PAGE, ...(cursor === null ? {} : { cursor }) },
      }),
      differences.waiting(id),
    ]);
    // Only the cursor can be invalid.
    if (!reports.ok) return redirect(differencePath(id));
    return page(
      viewer.messages.differences.kindTitle,
      <KindPage
        viewer={viewer}
        kind={differenceViewOf(kind)}
        reports={reports.value.items}
        count={count}
        preview={preview}
        paging={{ cursor, nextCursor: reports.value.next_cursor }}
        failure={failure}
      />,
      { assets: ['ops.js'], httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
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

  pages.post('/ops/service/:id/close', 'dispatcher', (posted) => {
    const id = posted.params('id');
    return submit(api, posted, {
      ...resolveTaskCall(differenceTaskId(id)),
      form: CLOSE_FORM,
      body: bodyOf(posted.form, { only: ['reason'] }),
      next: differencePath(id),
      done: 'resolved',
      again: (failure) => showKind(posted, failure),
    });
  });

  pages.post('/ops/service/:id/judge', 'ops', (posted) => {
    const id = posted.params('id');
    return submit(api, posted, {
      route: ROUTES.judgeAgain,
      form: JUDGE_FORM,
      params: { difference_id: id },
      body: bodyOf(posted.form, { only: ['reason'] }),
      next: differencePath(id),
      done: 'judging_begun',
      again: (failure) => showKind(posted, failure),
    });
  });

  // Previews a bulk run; its page starts it and shows the results.
  pages.post('/ops/service/:id/retry-all', 'dispatcher', async (posted) => {
    const reason = (posted.form.get('reason') ?? '').trim();
    const asked = { action: 'retry', difference_id: posted.params('id'), ...(reason === '' ? {} : { reason }) };
    const preview = await bulk.preview(asked, posted.actor);
    if (preview.ok) return redirect(bulkPath(preview.run.id));
    return showKind(posted, failureOf(preview.refusal, { form: SEND_ALL_FORM, entered: posted.form }));
  });

  pages.post('/ops/service/:id/retry', 'dispatcher', (posted) => {
    const { form } = posted;
    const id = posted.params('id');
    const [tow, report, violation] = [form.get('tow'), form.get('report'), form.get('violation')];
    const of = { towing_reference_id: tow, report_id: report, violation_id: violation };
    const call =
      violation === null
        ? reportDecisionCall('retry', { towingReferenceId: tow ?? '', reportId: report ?? '' })
        : violationDecisionCall('retry', violation);
    return submit(api, posted, {
      ...call,
      form: sendAgainForm(of),
      body: {},
      // The report may have been sent again meanwhile, and accepted with another answer.
      question: async () => (await differences.acceptedAt(id, of)) ?? '',
      next: differencePath(id),
      done: 'retried',
      again: (failure) => showKind(posted, failure),
    });
  });
}
