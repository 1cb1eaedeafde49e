/** More than any real contention on one tow; reaching it means that something writes without end. */
const TRIES_MAX = 50;

/** Decides again on a fresh reading for as long as somebody else was faster. */
export async function untilFresh<T>(decideOnce: () => Promise<T | 'stale'>): Promise<T> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const result = await decideOnce();
    if (result !== 'stale') return result;
  }
  throw new Error('the record kept changing while a decision was made on it');
}
