import { setTimeout as pause } from 'node:timers/promises';
import { residentMib } from './resources';

const LOOK_EVERY_MS = 100;

/** Looks at the memory of processes again and again; `end` resolves with the most that each has had, MiB. */
export function watchMemory(processIds: readonly number[]): { end(): Promise<(processId: number) => number> } {
  const highest = new Map<number, number>();
  const ending = new AbortController();
  const look = async () => {
    for (const processId of processIds) {
      highest.set(processId, Math.max(highest.get(processId) ?? 0, await residentMib(processId)));
    }
  };
  const looking = (async () => {
    while (!ending.signal.aborted) {
      await look();
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    async end() {
      ending.abort();
      await looking;
      await look();
      return (processId) => highest.get(processId) ?? Number.NaN;
    },
  };
}
