import { setTimeout as resolveAfter } from 'node:timers/promises';
import { errorFacts } from './errors';
import type { Log } from './log/log';

/** Waits `delayMs`, or until the signal aborts. Never rejects. */
export async function pause(delayMs: number, signal?: AbortSignal): Promise<void> {
  await resolveAfter(delayMs, undefined, signal ? { signal } : {}).catch(() => {});
}

/** Resolves with the result, or null on failure or after `limitMs`. Does not cancel the work. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<{ readonly value: T } | null> {
  const ended = new AbortController();
  const timeout = pause(limitMs, ended.signal).then(() => null);
  const done = work.then(
    (value) => ({ value }),
    () => null,
  );
  const first = await Promise.race([done, timeout]);
  ended.abort();
  return first;
}

/** True if the work resolves or rejects within `limitMs`. Does not cancel it. */
export async function isSettledWithin(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  return (await within(limitMs, Promise.allSettled([work]))) !== null;
}

/**
 * Calls `act` after `delayMs`, once what has arrived on the sockets was read. After a freeze of the process its timers run
 * before its sockets are read, so without that an answer that came in time would be lost. `onTime` is called before.
 * Returns a function that cancels all of it.
 */
export function afterReading(delayMs: number, act: () => void, onTime = (): void => {}): () => void {
  let read: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    onTime();
    // Immediates run right after the sockets were read.
    read = setImmediate(act);
  }, delayMs);
  return () => {
    clearTimeout(timer);
    clearImmediate(read);
  };
}

/** Resolves once what has arrived on the sockets was read. */
export function untilRead(): Promise<void> {
  return new Promise((resolve) => {
    // Immediates run right after the sockets were read.
    setImmediate(resolve);
  });
}

/** A start loads modules and opens listeners for longer than a command to Redis may take; work that can wait begins after it. */
export const AFTER_START_MS = 1000;

/** Work that repeats until it is stopped. */
export interface Repetition {
  /** Aborts the signal of the current run and waits for its end. No run starts afterwards. */
  stop(): Promise<void>;
}

/**
 * Runs `work` until it is stopped: again at once after 'continue', else `everyMs` after the end of the last run. A run that
 * rejects is logged as `<name>.failed` and does not stop the repetition.
 */
export function repeat(options: {
  readonly name: string;
  readonly everyMs: number;
  /** The time before the first run; 0 by default. */
  readonly firstAfterMs?: number;
  readonly work: (signal: AbortSignal) => Promise<'continue' | void>;
  readonly log: Log;
}): Repetition {
  const { firstAfterMs = 0 } = options;
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    if (firstAfterMs > 0) await pause(firstAfterMs, signal);
    while (!signal.aborted) {
      const next = await options.work(signal).catch((error: unknown) => {
        options.log.warn(`${options.name}.failed`, { ...errorFacts(error), stack: undefined });
      });
      if (next !== 'continue') await pause(options.everyMs, signal);
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
