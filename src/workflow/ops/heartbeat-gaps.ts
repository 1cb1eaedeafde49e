import type { Clock } from '../../platform/clock';

/**
 * Whether the absence of other processes can be believed. After a time in which Redis stored no heartbeats, all other
 * processes look silent until their next one.
 */
export interface HeartbeatGaps {
  /** A heartbeat of this process was stored. */
  stored(): void;
  /** A heartbeat of this process was not stored. */
  missed(): void;
  /**
   * False from a gap in the heartbeats of this process until they were stored again for longer than a process may be
   * silent; true before the first one.
   */
  areOthersKnown(): boolean;
}

/** Twice the time between two heartbeats. A freeze of the machine misses none, but stores none either. */
const GAP_MS = 10_000;

/** @param silentAfterMs after how long without a heartbeat a process counts as silent. */
export function createHeartbeatGaps(clock: Pick<Clock, 'monotonicMs'>, silentAfterMs: number): HeartbeatGaps {
  let storedAtMs: number | null = null;
  let gapEndedAtMs = -Infinity;
  let hasMissed = false;
  const isInGap = (nowMs: number) => hasMissed || (storedAtMs !== null && nowMs - storedAtMs > GAP_MS);
  return {
    stored() {
      const nowMs = clock.monotonicMs();
      if (isInGap(nowMs)) gapEndedAtMs = nowMs;
      storedAtMs = nowMs;
      hasMissed = false;
    },
    missed() {
      hasMissed = true;
    },
    areOthersKnown() {
      const nowMs = clock.monotonicMs();
      return !isInGap(nowMs) && nowMs - gapEndedAtMs > silentAfterMs;
    },
  };
}
