import { ROUTES } from '../../../contracts/operator-routes';
import type { ApiAnswer, ApiCallRefusal } from '../../../workflow/operator-port';
import { page, type FormFailure, type PageResult, type Pages, type PageVisit, type PageTools } from '../../page';
import { PAGES } from '../../page-table';
import { bodyOf, requiredIfEmpty } from '../../forms';
import { LookupsPage, type ShownLookup } from './view';

const PATH = '/lookups';
const TICKET_FIELDS = ['zoneId', 'plateNumber', 'plateType'];

export function serveLookups(pages: Pages, { api, settings }: Pick<PageTools, 'api' | 'settings'>): void {
  const show = ({ viewer, response }: PageVisit, entered: URLSearchParams, outcome: ShownLookup | null): PageResult => {
    const refusal = outcome?.kind === 'no_answer' ? outcome.failure.refusal : null;
    if (refusal !== null && refusal.retryAfterMs !== null) {
      response.set('retry-after', String(Math.ceil(refusal.retryAfterMs / 1000)));
    }
    return page(
      viewer.messages.common.lookups,
      <LookupsPage viewer={viewer} isConfigured={settings.isServiceConfigured} entered={entered} outcome={outcome} />,
      { httpStatus: refusal?.httpStatus ?? 200, assets: ['relative-times.js'] },
    );
  };

  // A zone is not personal, so it may be in the address. Pages of violations link to it.
  pages.get(PAGES.lookups.path, PAGES.lookups.role, async (visit) => {
    const zone = visit.query.get('zone_id')?.trim() ?? '';
    if (zone === '') return show(visit, visit.query, null);
    const answer = await api.call(ROUTES.readCapacity, { actor: visit.actor, params: { zone_id: zone } });
    const outcome = resultOf(answer, visit.query, 'capacity', (value) => ({ kind: 'capacity', ...value }));
    return show(visit, visit.query, outcome);
  });

  // A plate must not be in an address, so the response of the form is the page itself.
  pages.post(`${PATH}/ticket`, 'crew', async (posted) => {
    const body = bodyOf(posted.form, { only: TICKET_FIELDS });
    const answer = await api.call(ROUTES.checkTicket, { actor: posted.actor, body });
    const plate = String(body['plateNumber'] ?? '');
    const outcome = resultOf(answer, posted.form, 'ticket', (value) => ({ kind: 'ticket', plate, ...value }));
    return show(posted, posted.form, outcome);
  });
}

function resultOf<T>(
  answer: ApiAnswer<T>,
  entered: URLSearchParams,
  form: 'capacity' | 'ticket',
  found: (value: T) => ShownLookup,
): ShownLookup {
  if (answer.ok) return found(answer.value);
  const failure: FormFailure = { form, refusal: asEntered(answer.refusal, form), entered };
  return { kind: 'no_answer', failure: requiredIfEmpty(failure, TICKET_FIELDS) };
}

/** Maps the field name of the service to that of the form. */
function asEntered(refusal: ApiCallRefusal, form: 'capacity' | 'ticket'): ApiCallRefusal {
  if (form === 'ticket') return refusal;
  return {
    ...refusal,
    details: refusal.details.map(({ field, rule }) => ({ field: field === 'zoneId' ? 'zone_id' : field, rule })),
  };
}
