import type { Metrics } from '../platform/metrics';
import type { ConservationStore } from '../workflow/conservation-port';
import { totalOf } from '../workflow/conservation-view';

/** Shows the result of the last complete scan, made by any process, among the metrics of each. */
export function watchConservation(metrics: Metrics, conservation: Pick<ConservationStore, 'lastWalk'>): void {
  metrics.watch({
    name: 'towhook_conservation',
    help: 'Where acknowledged deliveries and violations and recorded facts stand by the last complete walk; state="lost" must be 0.',
    labelNames: ['state'],
    async read() {
      const walk = await conservation.lastWalk();
      return walk ? Object.entries(totalOf(walk)).map(([state, value]) => ({ labels: { state }, value })) : [];
    },
  });
  metrics.watch({
    name: 'towhook_conservation_walk_age_seconds',
    help: 'How long ago the last complete walk ended.',
    labelNames: [],
    async read() {
      const walk = await conservation.lastWalk();
      return walk ? [{ labels: {}, value: walk.ageMs / 1000 }] : [];
    },
  });
}
