import type { ConservationView, Tally } from '../contracts/conservation';
import type { Walk } from './conservation-port';

const NOTHING: Tally = {
  acknowledged: 0,
  finished: 0,
  waiting: 0,
  parked: 0,
  with_a_person: 0,
  lost: 0,
  repaired: 0,
};

/** Deliveries and reports of a walk together. */
export function totalOf({ deliveries, reports }: Pick<Walk, 'deliveries' | 'reports'>): Tally {
  return {
    acknowledged: deliveries.acknowledged + reports.acknowledged,
    finished: deliveries.finished + reports.finished,
    waiting: deliveries.waiting + reports.waiting,
    parked: deliveries.parked + reports.parked,
    with_a_person: deliveries.with_a_person + reports.with_a_person,
    lost: deliveries.lost + reports.lost,
    repaired: deliveries.repaired + reports.repaired,
  };
}

/** The last complete walk as the API shows it; nothing is known before the first. */
export function conservationViewOf(walk: Walk | null): ConservationView {
  const { deliveries, reports } = walk ?? { deliveries: NOTHING, reports: NOTHING };
  return {
    ...totalOf({ deliveries, reports }),
    lost_names: [...(walk?.lostNames ?? [])],
    by_kind: { deliveries, reports },
    started_at: walk ? new Date(walk.startedAtMs).toISOString() : null,
    ended_at: walk ? new Date(walk.endedAtMs).toISOString() : null,
    walk_ms: walk ? walk.endedAtMs - walk.startedAtMs : null,
  };
}
