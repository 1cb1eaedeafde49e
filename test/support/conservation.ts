import type { Redis } from 'ioredis';
import type { Tally } from '../../src/contracts/conservation';
import { createConservationStore, type WalkSettings } from '../../src/store/conservation';
import type { Walk } from '../../src/workflow/conservation-port';

/** No pause between steps, none between walks. */
export const AT_ONCE: WalkSettings = { namesPerStep: 40, paceMs: 0, walkEveryMs: 0, restFactor: 0, scanWithinMs: 0 };

/** Walks to the end of the ledger and says what was found. Nobody else may be walking. */
export async function walk(redis: Redis, settings: Partial<WalkSettings> = {}): Promise<Walk> {
  const conservation = createConservationStore(redis, { ...AT_ONCE, ...settings });
  for (;;) {
    const { isLast } = await conservation.step();
    if (!isLast) continue;
    const found = await conservation.lastWalk();
    if (!found) throw new Error('a walk has ended and left nothing');
    return found;
  }
}

/** Where the violations stand by a new walk; states without any are left out. */
export async function violationStandings(redis: Redis) {
  return without0((await walk(redis)).violations);
}

/** Where the deliveries and the reports stand by a new walk; states without any are left out. */
export async function standings(redis: Redis) {
  const { deliveries, reports } = await walk(redis);
  return { deliveries: without0(deliveries), reports: without0(reports) };
}

function without0({ acknowledged: _all, ...tally }: Tally): Partial<Tally> {
  return Object.fromEntries(Object.entries(tally).filter(([, count]) => count > 0));
}
