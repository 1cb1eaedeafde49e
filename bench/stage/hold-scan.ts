import { KEYS } from '../../src/store/keys';
import type { BenchRedis } from './redis';

/** Workers trust a wait of at most ten seconds. */
const HOLD_MS = 9000;
const RENEW_MS = 2000;

/**
 * Does something while no worker scans the ledger. An idle worker reads all that is stored again and again, less often
 * while the machine is busy, so its commands cannot be subtracted from a count.
 */
export async function withoutScan<T>(redis: BenchRedis, action: () => Promise<T>): Promise<T> {
  const hold = () => redis.ask('HSET', KEYS.scan, 'next_at', String(Date.now() + HOLD_MS));
  await hold();
  const renewing = setInterval(() => void hold().catch(() => {}), RENEW_MS);
  try {
    return await action();
  } finally {
    clearInterval(renewing);
  }
}
