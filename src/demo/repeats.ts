import { ApiRefusal, ApiUnreachable } from '../client';
import { systemClock } from '../platform/clock';
import { pause } from '../platform/timers';

/** After this time the failure is reported. */
const REPEAT_LIMIT_MS = 100_000;
const REPEAT_AFTER_S = 0.2;

/**
 * Makes a call of the operator API, and repeats it while it gets no answer or 503, after Retry-After if there is one:
 * Redis may stall for seconds, for example on a busy disk. Gives up after 100 s or when `signal` aborts,
 * and rejects with the last failure. Writes need an Idempotency-Key that is the same each time.
 */
export async function repeatUntilAnswered<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const untilMs = systemClock.monotonicMs() + REPEAT_LIMIT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isUnanswered(error) || signal?.aborted || systemClock.monotonicMs() > untilMs) throw error;
      const { retryAfterS = null } = error instanceof ApiRefusal ? error : {};
      await pause((retryAfterS ?? REPEAT_AFTER_S) * 1000, signal);
    }
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof ApiUnreachable || (error instanceof ApiRefusal && error.httpStatus === 503);
}
