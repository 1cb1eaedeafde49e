import { setTimeout as pause } from 'node:timers/promises';
import { conservationView, type ConservationView } from '../../src/contracts/ops/conservation';
import type { Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { completeScan } from '../../src/store/ops/conservation';
import { connectFailFast, READY_TIMEOUT_MS, whenReady } from '../../src/store/redis/connect';
import type { RetryingClient } from './client';

/** The results of towhook's conservation checks while faults are injected. */
export interface ConservationScans {
  /** Reads the result of every check until the signal aborts. */
  watch(): Promise<void>;
  /** A check that began after this call, without the pauses of the workers' own; null when none ends in time. */
  next(): Promise<ConservationView | null>;
  /** The ids that any check reported as lost. */
  readonly lostNames: ReadonlySet<string>;
  /** The number of checks that were read. */
  readonly seen: () => number;
}

export interface ScanTools {
  readonly redisUrl: string;
  readonly client: RetryingClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1000;
const NEXT_WALK_LIMIT_MS = 300_000;

export function watchScans({ redisUrl, client, clock, signal }: ScanTools): ConservationScans {
  const lostNames = new Set<string>();
  const starts = new Set<string>();
  const look = async (): Promise<ConservationView> => {
    const lastScan = conservationView.parse(await client.read('/conservation'));
    if (lastScan.started_at !== null) starts.add(lastScan.started_at);
    for (const name of lastScan.lost_names) lostNames.add(name);
    return lastScan;
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
      const redis = connectFailFast(redisUrl, { log: silentLog });
      await whenReady(redis, READY_TIMEOUT_MS)
        .then(() => completeScan(redis))
        .finally(() => redis.disconnect());
      for (const untilMs = clock.monotonicMs() + NEXT_WALK_LIMIT_MS; clock.monotonicMs() < untilMs;) {
        const lastScan = await look();
        if (lastScan.started_at !== null && Date.parse(lastScan.started_at) > afterMs) return lastScan;
        await pause(LOOK_EVERY_MS, undefined, { signal });
      }
      return null;
    },
  };
}
