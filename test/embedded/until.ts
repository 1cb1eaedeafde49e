import { setTimeout as pause } from 'node:timers/promises';

/** Waits for a fact; fails when it has not come true after `timeoutMs`. */
export async function until(fact: () => boolean | Promise<boolean>, timeoutMs = 10_000): Promise<void> {
  const givesUpAtMs = performance.now() + timeoutMs;
  while (!(await fact())) {
    if (performance.now() > givesUpAtMs) throw new Error(`did not come true within ${timeoutMs} ms: ${String(fact)}`);
    await pause(5);
  }
}
