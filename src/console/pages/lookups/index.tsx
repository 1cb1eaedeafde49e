import { ROUTES } from '../../../contracts/operator-routes';
import type { ApiAnswer, ApiRefusal } from '../../../workflow/operator-port';
import { elsewhere, page, type Failure, type Shown } from '../../answers';
import { bodyOf } from '../../entries';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { LookupsPage, type Outcome } from './page';

const PATH = '/lookups';

/** What can be asked of the service right now. */
export function serveLookups(pages: Pages, { api, asksService }: Pick<PageTools, 'api' | 'asksService'>): void {
  const show = ({ viewer, response }: Visit, entered: URLSearchParams, outcome: Outcome | null): Shown => {
    const refusal = outcome?.kind === 'no_answer' ? outcome.failure.refusal : null;
    if (refusal !== null && refusal.retryAfterMs !== null) {
      response.set('retry-after', String(Math.ceil(refusal.retryAfterMs / 1000)));
    }
    return page(
      viewer.words.lookups.title,
      <LookupsPage viewer={viewer} asksService={asksService} entered={entered} outcome={outcome} />,
      { httpStatus: refusal?.httpStatus ?? 200, assets: ['countdown.js'] },
    );
  };

  // A zone is no secret: the address of a question can be handed on, and stands on the page of a violation.
  pages.get(PATH, 'viewer', async (visit) => {
    const zone = visit.query.get('zone_id')?.trim() ?? '';
    if (zone === '') return show(visit, visit.query, null);
    const answer = await api.call(ROUTES.readCapacity, { actor: visit.actor, params: { zone_id: zone } });
    const outcome = outcomeOf(answer, visit.query, 'capacity', (value) => ({ kind: 'capacity', ...value }));
    return show(visit, visit.query, outcome);
  });

  // A plate never stands in an address: the answer is the page of this form itself.
  pages.post(`${PATH}/ticket`, 'crew', async (posted) => {
    const body = bodyOf(posted.form, { only: ['zoneId', 'plateNumber', 'plateType'] });
    const answer = await api.call(ROUTES.checkTicket, { actor: posted.actor, body });
    const plate = String(body['plateNumber'] ?? '');
    const outcome = outcomeOf(answer, posted.form, 'ticket', (value) => ({ kind: 'ticket', plate, ...value }));
    return show(posted, posted.form, outcome);
  });
  pages.get(`${PATH}/ticket`, 'viewer', async () => elsewhere(PATH));
}

function outcomeOf<T>(
  answer: ApiAnswer<T>,
  entered: URLSearchParams,
  form: 'capacity' | 'ticket',
  found: (value: T) => Outcome,
): Outcome {
  if (answer.ok) return found(answer.value);
  const failure: Failure = { form, refusal: asEntered(answer.refusal, form), entered };
  return { kind: 'no_answer', failure };
}

/** The service names a zone in its own way; the form of a capacity has another name for it. */
function asEntered(refusal: ApiRefusal, form: 'capacity' | 'ticket'): ApiRefusal {
  if (form === 'ticket') return refusal;
  return {
    ...refusal,
    details: refusal.details.map(({ field, rule }) => ({ field: field === 'zoneId' ? 'zone_id' : field, rule })),
  };
}
