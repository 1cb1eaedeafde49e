import type { Redis } from 'ioredis';
import { pause } from '../platform/timers';
import type { ConservationStore } from '../workflow/conservation';
import { createConservationStore, type ScanSettings } from './conservation';
import { KEYS } from './keys';

/** Without pauses: no other process uses this Redis. */
const FULL_SPEED: ScanSettings = {
  namesPerStep: 500,
  namesPerStepMax: 1000,
  paceMs: 0,
  pauseFactor: 0,
  scanWithinMs: 0,
  scanIntervalMs: 0,
};

/** Runs one conservation scan from its beginning to its end and returns its result; null when none was stored. */
export async function completeScan(redis: Redis): Promise<Awaited<ReturnType<ConservationStore['lastScan']>>> {
  const store = createConservationStore(redis, FULL_SPEED);
  // A scan that the workers had begun covers only the rest of the ledger.
  await redis.del(KEYS.scan);
  for (let step = await store.step(); !step.isLast; step = await store.step()) await pause(step.waitMs);
  return store.lastScan();
}
