import { ROUTES } from '../contracts/operator-routes';
import type { ConservationStore } from '../workflow/conservation-port';
import { conservationViewOf } from '../workflow/conservation-view';
import type { Server } from './serve';

/** Where everything acknowledged stands, and that nothing is lost. */
export function serveConservation(server: Server, conservation: Pick<ConservationStore, 'lastWalk'>): void {
  server.read(ROUTES.readConservation, async () => conservationViewOf(await conservation.lastWalk()));
}
