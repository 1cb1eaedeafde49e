import { ROUTES } from '../../contracts/operator-routes';
import type { DifferenceStore } from '../../workflow/ports';
import { differenceViewOf, expectDifference } from '../../workflow/service/expect-difference';
import { readServiceView, type SeenServiceStore } from '../../workflow/service/service-view';
import type { RecordStore } from '../../workflow/transaction-port';
import type { ApiServer } from '../api-server';

export interface DifferenceRouteTools {
  readonly differences: DifferenceStore;
  readonly seenService: SeenServiceStore;
  readonly records: RecordStore;
}

/** The service as it was seen, and how its messages differ from its document. */
export function serveDifferences(server: ApiServer, tools: DifferenceRouteTools): void {
  const { differences } = tools;
  server.read(ROUTES.readService, () => readServiceView(tools));
  server.read(ROUTES.listDifferences, async () => ({ items: (await differences.all()).map(differenceViewOf) }));
  server.change(ROUTES.expectDifference, ({ params, body, actor }) => ({
    effect: (idempotency) =>
      expectDifference(tools, { id: params('difference_id'), reason: body.reason, actor, idempotency }),
  }));
}
