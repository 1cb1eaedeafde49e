import { pause } from '../../src/platform/timers';

const CHECK_EVERY_MS = 10;
const CHECK_AT_LEAST_EVERY_MS = 100;
/** Ends a wait that hangs. It is no requirement on speed: a busy machine takes many times as long. */
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * Waits until a check passes and returns what it returned. A check passes when it does not throw, so it may contain
 * several expectations. After `timeoutMs` it throws what the last check threw.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
  const beganMs = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > beganMs + timeoutMs) throw error;
    }
    // What takes seconds is checked less often: checks cost the time of other tests.
    const waitedMs = performance.now() - beganMs;
    await pause(Math.min(Math.max(CHECK_EVERY_MS, waitedMs / 20), CHECK_AT_LEAST_EVERY_MS));
  }
}

/** Ends the repetitions of an action that is never fast enough. */
const FAST_TIMEOUT_MS = 60_000;

/**
 * Repeats an action until one run of it takes less than `limitMs`, and returns the result of that run. A product that
 * always takes longer fails; a machine that is busy for a moment does not. The time of a run starts with the run, or when
 * the action calls `startClock`. Rejects as soon as the action rejects.
 */
export async function inTime<T>(limitMs: number, action: (startClock: () => void) => Promise<T>): Promise<T> {
  const givesUpAtMs = performance.now() + FAST_TIMEOUT_MS;
  for (;;) {
    let startedMs = performance.now();
    const result = await action(() => {
      startedMs = performance.now();
    });
    const nowMs = performance.now();
    const tookMs = nowMs - startedMs;
    if (tookMs < limitMs) return result;
    if (nowMs > givesUpAtMs) throw new Error(`took ${Math.round(tookMs)} ms, never less than ${limitMs} ms`);
  }
}
