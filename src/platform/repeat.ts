import { setTimeout as sleep } from 'node:timers/promises';
import { errorFacts, type Log } from './log';

/** Work that is done again and again until it is stopped. */
export interface Repetition {
  /** Waits for the running turn; none starts after it. */
  stop(): Promise<void>;
}

/**
 * Does `work` again and again, `everyMs` after each end; it may answer that more is waiting, and is then done again at
 * once. A turn that fails is logged as `<name>.failed` and changes nothing for the next.
 */
export function repeat(options: {
  readonly name: string;
  readonly everyMs: number;
  readonly work: (signal: AbortSignal) => Promise<'more' | 'rest'>;
  readonly log: Log;
}): Repetition {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    while (!signal.aborted) {
      const next = await options.work(signal).catch((error: unknown): 'rest' => {
        options.log.warn(`${options.name}.failed`, { ...errorFacts(error), stack: undefined });
        return 'rest';
      });
      if (next === 'rest') await sleep(options.everyMs, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}
