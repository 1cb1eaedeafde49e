import { setTimeout as sleep } from 'node:timers/promises';

/** Waits so long, or until the signal ends the waiting. Never rejects. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  await sleep(delayMs, undefined, signal ? { signal } : {}).catch(() => {});
}
