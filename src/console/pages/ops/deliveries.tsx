import { ROUTES } from '../../../contracts/operator-routes';
import { elsewhere, missing, page, part, type Failure, type Shown } from '../../answers';
import { carryOut } from '../../carry-out';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { DeliveryNow, DeliveryPage } from './delivery';
import { DeliveryListPage, isQuarantined, type Listed } from './delivery-list';

const PATH = '/ops/deliveries';
const ROWS = '50';
/** All of them: they have no pages. */
const QUARANTINED_ROWS = '200';

/** Webhook deliveries: what came, what became of it, and once more from the start. */
export function serveDeliveryPages(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PATH, 'viewer', async ({ viewer, actor, query }) => {
    const quarantined = query.get('quarantined') === 'true';
    const cursor = quarantined ? null : query.get('cursor');
    const answer = await api.call(ROUTES.listDeliveries, {
      actor,
      query: {
        limit: quarantined ? QUARANTINED_ROWS : ROWS,
        ...(quarantined ? { quarantined: 'true' } : {}),
        ...(cursor === null ? {} : { cursor }),
      },
    });
    // The only thing that can be wrong is the place in the list.
    if (!answer.ok) return elsewhere(PATH);
    const { items, next_cursor: nextCursor } = answer.value;
    const listed: Listed = quarantined
      ? { kind: 'quarantined', calls: items.flatMap((item) => (isQuarantined(item) ? [item] : [])) }
      : {
          kind: 'accepted',
          deliveries: items.flatMap((item) => (isQuarantined(item) ? [] : [item])),
          cursor,
          nextCursor,
        };
    return page(viewer.words.deliveries.title, <DeliveryListPage viewer={viewer} listed={listed} />);
  });

  const read = async ({ actor, params }: Visit) => {
    const answer = await api.call(ROUTES.readDelivery, { actor, params: { delivery_id: params('id') } });
    return answer.ok ? answer.value : null;
  };
  const show = async (visit: Visit, failure: Failure | null): Promise<Shown> => {
    const delivery = await read(visit);
    if (!delivery) return missing;
    const { viewer } = visit;
    return page(viewer.words.deliveries.one, <DeliveryPage viewer={viewer} delivery={delivery} failure={failure} />, {
      assets: ['ops.js'],
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };

  pages.get(`${PATH}/:id`, 'viewer', async (visit) => {
    if (!visit.wantsPart) return show(visit, null);
    const delivery = await read(visit);
    return delivery ? part(<DeliveryNow viewer={visit.viewer} delivery={delivery} failure={null} />) : missing;
  });

  pages.post(`${PATH}/:id/replay`, 'ops', async (posted) => {
    const id = posted.params('id');
    return carryOut(api, posted, {
      route: ROUTES.replayDelivery,
      form: 'replay',
      params: { delivery_id: id },
      body: {},
      next: `${PATH}/${encodeURIComponent(id)}`,
      done: 'replayed',
      again: (failure) => show(posted, failure),
    });
  });
}
