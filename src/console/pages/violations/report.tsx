import { ROUTES } from '../../../contracts/operator-routes';
import { elsewhere, page, part, type Failure, type Shown } from '../../answers';
import type { Pages, Visit } from '../../serve';
import { cookieOf, isFormOf } from '../../sessions';
import type { PageTools } from '../../tools';
import { DONE_COOKIE } from '../../viewer';
import { REPORT_FORM } from './fields';
import { ReportForm, ReportPage } from './report-form';
import { violationPath } from './rows';

/** What a form of ours carries beside the fields of the API. */
const OWN_FIELDS = ['form_token', 'form_key'];
/** So many violations tell which zones are being patrolled. */
const LATEST = 50;
const DONE_SECONDS = 30;

/** Reporting a violation: the form, and what becomes of it. */
export function serveReport(pages: Pages, tools: PageTools): void {
  const show = async ({ viewer, wantsPart }: Visit, failure: Failure | null): Promise<Shown> => {
    const props = { viewer, api: tools.violationApi, zones: await zonesOf(tools), failure };
    const httpStatus = failure?.refusal.httpStatus ?? 200;
    if (wantsPart) return part(<ReportForm {...props} />, httpStatus);
    return page(viewer.words.violationForm.title, <ReportPage {...props} />, { httpStatus, assets: ['upload.js'] });
  };

  pages.get('/violations/new', 'dispatcher', (visit) => show(visit, null));

  pages.upload('/violations/new', 'dispatcher', async (visit) => {
    const { actor, visitor, request } = visit;
    const answer = await tools.api.form(ROUTES.reportViolation, {
      actor,
      request,
      ownFields: OWN_FIELDS,
      admits: (own) => isFormOf(visitor, own['form_token'] ?? ''),
      idempotencyField: 'form_key',
    });
    if (answer.ok) return onTo(visit, violationPath(answer.value.id));
    return show(visit, {
      form: REPORT_FORM,
      refusal: answer.refusal,
      entered: new URLSearchParams({ ...answer.fields }),
    });
  });
}

/** A script that sent the form is told where to go: it would follow a redirect itself, and see the page instead of us. */
function onTo({ wantsPart, request, response }: Visit, address: string): Shown {
  if (!wantsPart) return elsewhere(address, 'reported');
  response.set('hx-redirect', address).append('set-cookie', cookieOf(request, DONE_COOKIE, 'reported', DONE_SECONDS));
  return part('');
}

async function zonesOf({ violations }: PageTools): Promise<string[]> {
  const { items } = await violations.list({ state: null, search: null, cursor: null, limit: LATEST });
  return [...new Set(items.map(({ violation }) => violation.form.zoneId))];
}
