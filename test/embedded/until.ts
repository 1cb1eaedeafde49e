import { pause } from '../../src/platform/timers';

/** Waits until a condition is true. Throws when it is still false after `timeoutMs`. */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const givesUpAtMs = performance.now() + timeoutMs;
  while (!(await fact())) {
    if (performance.now() > givesUpAtMs) throw new Error(`did not come true within ${timeoutMs} ms: ${String(fact)}`);
    await pause(5);
  }
}
