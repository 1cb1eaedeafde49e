import { STEP_LEASE_MS } from '../../src/store/ops/conservation';
import { KEYS } from '../../src/store/keys';
import type { BenchRedis } from './redis';

/** Workers ignore a longer wait than the lease of a step. */
const WAIT_MS = STEP_LEASE_MS - 1000;
const RENEW_MS = STEP_LEASE_MS / 5;

/**
 * Does something while no worker scans the ledger. An idle worker reads all that is stored again and again, less often
 * while the machine is busy, so its commands cannot be subtracted from a count.
 */
export async function withoutScan<T>(redis: BenchRedis, action: () => Promise<T>): Promise<T> {
  const putOff = () => redis.ask('HSET', KEYS.scan, 'next_at', String(Date.now() + WAIT_MS));
  await putOff();
  const renewing = setInterval(() => void putOff().catch(() => {}), RENEW_MS);
  try {
    return await action();
  } finally {
    clearInterval(renewing);
  }
}
