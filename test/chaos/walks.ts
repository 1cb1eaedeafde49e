import { setTimeout as pause } from 'node:timers/promises';
import { conservationView, type ConservationView } from '../../src/contracts/conservation';
import type { Clock } from '../../src/platform/clock';
import type { PatientClient } from './client';

/** What towhook's own walks over everything acknowledged say while everything around them breaks. */
export interface Walks {
  /** Looks at every walk it can get hold of until the signal ends the run. */
  watch(): Promise<void>;
  /** The first walk that began after now; null when none does in time. */
  next(): Promise<ConservationView | null>;
  /** What any of the walks called lost, each name once. */
  readonly lostNames: ReadonlySet<string>;
  /** How many walks were seen. */
  readonly seen: () => number;
}

export interface WalkTools {
  readonly client: PatientClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1000;
const NEXT_WALK_LIMIT_MS = 60_000;

export function watchWalks({ client, clock, signal }: WalkTools): Walks {
  const lostNames = new Set<string>();
  const starts = new Set<string>();
  const look = async (): Promise<ConservationView> => {
    const walk = conservationView.parse(await client.read('/conservation'));
    if (walk.started_at !== null) starts.add(walk.started_at);
    for (const name of walk.lost_names) lostNames.add(name);
    return walk;
  };
  return {
    lostNames,
    seen: () => starts.size,
    async watch() {
      while (!signal.aborted) {
        await look();
        await pause(LOOK_EVERY_MS, undefined, { signal });
      }
    },
    async next() {
      const afterMs = clock.nowMs();
      for (const untilMs = clock.monotonicMs() + NEXT_WALK_LIMIT_MS; clock.monotonicMs() < untilMs;) {
        const walk = await look();
        if (walk.started_at !== null && Date.parse(walk.started_at) > afterMs) return walk;
        await pause(LOOK_EVERY_MS, undefined, { signal });
      }
      return null;
    },
  };
}
