import { ROUTES } from '../../../contracts/operator-routes';
import { elsewhere, page, part, type Failure, type Shown } from '../../answers';
import { OWN_FIELDS } from '../../entries';
import { sayDone, type Pages, type Visit } from '../../serve';
import { isFormOf } from '../../sessions';
import type { PageTools } from '../../tools';
import { REPORT_FORM } from './fields';
import { ReportForm, ReportPage } from './report-form';
import { violationPath } from './rows';

/** So many violations tell which zones are being patrolled. */
const LATEST = 50;

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
  response.set('hx-redirect', address);
  sayDone({ request, response }, 'reported');
  return part('');
}

async function zonesOf({ violations }: PageTools): Promise<string[]> {
  const { items } = await violations.list({ state: null, search: null, cursor: null, limit: LATEST });
  return [...new Set(items.map(({ violation }) => violation.form.zoneId))];
}
