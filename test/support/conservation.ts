import type { Redis } from 'ioredis';
import type { ConservationCounts } from '../../src/contracts/ops/conservation';
import { createConservationStore, type ScanSettings } from '../../src/store/ops/conservation';
import type { ConservationScan } from '../../src/workflow/ops/conservation';

export const AT_ONCE: ScanSettings = {
  namesPerStep: 40,
  namesPerStepMax: 1000,
  paceMs: 0,
  scanIntervalMs: 0,
  scanWithinMs: 0,
};

/** Scans to the end and returns the findings. No other scan may be running. */
export async function walk(redis: Redis, settings: Partial<ScanSettings> = {}): Promise<ConservationScan> {
  const conservation = createConservationStore(redis, { ...AT_ONCE, ...settings });
  for (;;) {
    const { isLast } = await conservation.step();
    if (!isLast) continue;
    const found = await conservation.lastScan();
    if (!found) throw new Error('a walk has ended and left nothing');
    return found;
  }
}

/** The violations by state in a new scan; states without any are left out. */
export async function violationStandings(redis: Redis) {
  return without0((await walk(redis)).violations);
}

/** The deliveries and reports by state in a new scan; states without any are left out. */
export async function standings(redis: Redis) {
  const { deliveries, reports } = await walk(redis);
  return { deliveries: without0(deliveries), reports: without0(reports) };
}

function without0({ acknowledged: _all, ...tally }: ConservationCounts): Partial<ConservationCounts> {
  return Object.fromEntries(Object.entries(tally).filter(([, count]) => count > 0));
}
