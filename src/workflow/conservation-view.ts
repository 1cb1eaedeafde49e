import type { ConservationView, Tally } from '../contracts/conservation';
import type { Walk } from './conservation-port';

type ByKind = Pick<Walk, 'deliveries' | 'reports' | 'violations'>;

const NOTHING: Tally = {
  acknowledged: 0,
  finished: 0,
  waiting: 0,
  parked: 0,
  with_a_person: 0,
  lost: 0,
  repaired: 0,
};

/** Deliveries, reports and violations of a scan together. */
export function totalOf({ deliveries, reports, violations }: ByKind): Tally {
  const sumOf = (figure: keyof Tally) => deliveries[figure] + reports[figure] + violations[figure];
  return {
    acknowledged: sumOf('acknowledged'),
    finished: sumOf('finished'),
    waiting: sumOf('waiting'),
    parked: sumOf('parked'),
    with_a_person: sumOf('with_a_person'),
    lost: sumOf('lost'),
    repaired: sumOf('repaired'),
  };
}

/** The last complete scan as the API shows it; nothing is known before the first. */
export function conservationViewOf(walk: Walk | null): ConservationView {
  const { deliveries, reports, violations } = walk ?? { deliveries: NOTHING, reports: NOTHING, violations: NOTHING };
  return {
    ...totalOf({ deliveries, reports, violations }),
    lost_names: [...(walk?.lostNames ?? [])],
    by_kind: { deliveries, reports, violations },
    started_at: walk ? new Date(walk.startedAtMs).toISOString() : null,
    ended_at: walk ? new Date(walk.endedAtMs).toISOString() : null,
    walk_ms: walk ? walk.endedAtMs - walk.startedAtMs : null,
  };
}
