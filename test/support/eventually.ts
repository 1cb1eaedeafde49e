import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 10;

/**
 * Waits until a check passes and returns what it returned. A check passes when it does not throw, so it may hold whole
 * expectations. Throws what the last check threw once `timeoutMs` are over.
 */
export async function eventually<T>(check: () => T | Promise<T>, timeoutMs = 10_000): Promise<T> {
  const givesUpAtMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > givesUpAtMs) throw error;
    }
    await pause(LOOK_EVERY_MS);
  }
}
