import { setTimeout as sleep } from 'node:timers/promises';

/** What work came to within `limitMs`; null when it failed or takes longer. It goes on, but is waited for no longer. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<{ readonly value: T } | null> {
  const ended = new AbortController();
  const tooLong = sleep(limitMs, null, { signal: ended.signal }).catch(() => null);
  const done = work.then(
    (value) => ({ value }),
    () => null,
  );
  const first = await Promise.race([done, tooLong]);
  ended.abort();
  return first;
}
