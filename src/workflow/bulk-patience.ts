import { backoffMs, type RetrySettings } from '../domain/backoff';
import type { Clock } from '../platform/clock';
import { pause } from '../platform/pause';

/** Trying something that may be tried again, a few times. */

/** Thrown by work that was told to come back. */
export class ComeBackLater extends Error {
  constructor(readonly afterMs: number) {
    super('the operator API said to come back later');
    this.name = 'ComeBackLater';
  }
}

export interface PatienceSettings {
  /** How often anything is tried in all. */
  readonly triesMax: number;
  readonly retry: RetrySettings;
}

/** Does work, which is told how often it was tried before, until it resolves; rejects with what the last try said. */
export type Patience = <T>(work: (triesBefore: number) => Promise<T>) => Promise<T>;

/** `ending` ends the waiting between tries, and then the tries. */
export function createPatience(clock: Clock, { triesMax, retry }: PatienceSettings, ending?: AbortSignal): Patience {
  return async (work) => {
    for (let failures = 0; ; failures += 1) {
      try {
        // Each try comes after the one before.
        // oxlint-disable-next-line eslint/no-await-in-loop
        return await work(failures);
      } catch (error) {
        if (failures + 1 >= triesMax) throw error;
        const nowMs = clock.nowMs();
        const askedMs = error instanceof ComeBackLater ? Math.min(error.afterMs, retry.retryCapMs) : 0;
        const facts = { failures, notBeforeMs: nowMs + askedMs, nowMs, jitter: clock.random() };
        // oxlint-disable-next-line eslint/no-await-in-loop
        await pause(backoffMs(facts, retry), ending);
        if (ending?.aborted === true) throw error;
      }
    }
  };
}
