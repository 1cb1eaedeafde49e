import { ROUTES } from '../../../contracts/operator-routes';
import {
  redirect,
  missingRecord,
  page,
  part,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
} from '../../page';
import { PAGES } from '../../page-table';
import { submit } from '../../api-calls';
import { DeliveryNow, DeliveryPage } from './view';
import { DeliveryListPage, type Listed } from './list';

const PATH = '/ops/deliveries';
const ROWS = '50';
/** Refused calls and those of other kinds are on one page. */
const KEPT_ROWS = '200';

/** The list of deliveries, one delivery, and its replay. */
export function serveDeliveries(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  pages.get(PAGES.deliveries.path, PAGES.deliveries.role, async ({ viewer, actor, query }) => {
    if (query.get('other') === 'true') {
      const others = await api.call(ROUTES.listOtherCalls, { actor, query: { limit: KEPT_ROWS } });
      const listed: Listed = { kind: 'other', calls: others.ok ? others.value.items : [] };
      return page(viewer.messages.deliveries.title, <DeliveryListPage viewer={viewer} listed={listed} />);
    }
    if (query.get('refused') === 'true') {
      const refused = await api.call(ROUTES.listRefusedCalls, { actor, query: { limit: KEPT_ROWS } });
      if (!refused.ok) return redirect(PATH);
      const listed: Listed = { kind: 'refused', calls: refused.value.items };
      return page(viewer.messages.deliveries.title, <DeliveryListPage viewer={viewer} listed={listed} />);
    }
    const difference = query.get('difference');
    const isDiffering = query.get('differing') === 'true';
    const cursor = query.get('cursor');
    const answer = await api.call(ROUTES.listDeliveries, {
      actor,
      query: {
        limit: ROWS,
        ...(difference === null ? {} : { difference_id: difference }),
        ...(isDiffering ? { differing: 'true' } : {}),
        ...(cursor === null ? {} : { cursor }),
      },
    });
    // Only the cursor can be invalid.
    if (!answer.ok) return redirect(PATH);
    const { items, next_cursor: nextCursor } = answer.value;
    const listed: Listed = {
      kind: isDiffering || difference !== null ? 'differing' : 'accepted',
      query: { ...(isDiffering ? { differing: 'true' } : {}), ...(difference === null ? {} : { difference }) },
      deliveries: items,
      cursor,
      nextCursor,
    };
    return page(viewer.messages.deliveries.title, <DeliveryListPage viewer={viewer} listed={listed} />);
  });

  const read = async ({ actor, params }: PageVisit) => {
    const answer = await api.call(ROUTES.readDelivery, { actor, params: { delivery_id: params('id') } });
    return answer.ok ? answer.value : null;
  };
  const show = async (visit: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const delivery = await read(visit);
    if (!delivery) return missingRecord('delivery', visit.params('id'));
    const { viewer } = visit;
    return page(
      viewer.messages.deliveries.one,
      <DeliveryPage viewer={viewer} delivery={delivery} failure={failure} />,
      {
        assets: ['ops.js'],
        httpStatus: failure?.refusal.httpStatus ?? 200,
      },
    );
  };

  pages.get(PAGES.delivery.path, PAGES.delivery.role, async (visit) => {
    if (!visit.wantsPart) return show(visit, null);
    const delivery = await read(visit);
    return delivery
      ? part(<DeliveryNow viewer={visit.viewer} delivery={delivery} failure={null} />)
      : missingRecord('delivery', visit.params('id'));
  });

  pages.post(`${PATH}/:id/replay`, 'ops', async (posted) => {
    const id = posted.params('id');
    return submit(api, posted, {
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
