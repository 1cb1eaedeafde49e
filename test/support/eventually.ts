import { setTimeout as pause } from 'node:timers/promises';

const CHECK_EVERY_MS = 10;
/** Ends a wait that hangs. It is no requirement on speed: on a busy machine everything takes many times as long. */
const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Waits until a check passes and returns what it returned. A check passes when it does not throw, so it may contain
 * several expectations. After `timeoutMs` it throws what the last check threw.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<T> {
  const givesUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > givesUpAtMs) throw error;
    }
    await pause(CHECK_EVERY_MS);
  }
}
