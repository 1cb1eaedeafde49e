import { ROUTES } from '../../../contracts/operator-routes';
import {
  page,
  part,
  redirect,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
} from '../../page';
import type { Actor } from '../../../domain/ops/audit';
import type { OperatorApi } from '../../../workflow/operator-port';
import { uploadOf } from '../../forms';
import { readRoute } from '../../api-calls';
import { REPORT_FORM } from '../../parts/violation-fields';
import { ReportForm, ReportPage } from './view';
import { PAGES, violationPath } from '../../page-table';

/** So many violations tell which zones are being patrolled. */
const LATEST = '50';

/** Reporting a violation: the form, and what becomes of it. */
export function serveReportViolation(pages: Pages, tools: PageTools): void {
  const show = async ({ viewer, actor, wantsPart }: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { violationApi: api, images } = tools.settings;
    const props = { viewer, api, zones: await zonesOf(tools.api, actor), images, failure };
    const httpStatus = failure?.refusal.httpStatus ?? 200;
    if (wantsPart) return part(<ReportForm {...props} />, httpStatus);
    return page(viewer.messages.violations.report, <ReportPage {...props} />, {
      httpStatus,
      assets: ['report-violation.js'],
    });
  };

  pages.get(PAGES.reportViolation.path, PAGES.reportViolation.role, (visit) => show(visit, null));

  pages.upload('/violations/new', 'dispatcher', async (visit) => {
    const answer = await tools.api.form(ROUTES.reportViolation, uploadOf(visit));
    if (answer.ok) return redirect(violationPath(answer.value.id), 'reported');
    return show(visit, {
      form: REPORT_FORM,
      refusal: answer.refusal,
      entered: new URLSearchParams({ ...answer.fields }),
    });
  });
}

async function zonesOf(api: OperatorApi, actor: Actor): Promise<string[]> {
  const { items } = await readRoute(api, ROUTES.listViolations, { actor, query: { limit: LATEST } });
  return [...new Set(items.flatMap(({ form }) => form.zoneId ?? []))];
}
