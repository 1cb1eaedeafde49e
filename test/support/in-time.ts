/** Ends the repetitions of an action that is never fast enough. */
const TIMEOUT_MS = 20_000;

/**
 * Repeats an action until one run of it takes less than `limitMs`, and returns the result of that run. A product that
 * always takes longer fails; a machine that is busy for a moment does not. The time of a run starts with the run, or when
 * the action calls `startClock`. Rejects as soon as the action rejects.
 */
export async function inTime<T>(limitMs: number, action: (startClock: () => void) => Promise<T>): Promise<T> {
  const givesUpAtMs = performance.now() + TIMEOUT_MS;
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
