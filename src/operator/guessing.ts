import type { Log } from '../platform/log';
import type { Metrics } from '../platform/metrics';
import { sourceOf } from '../platform/source-address';
import type { WrongKeyStore } from '../workflow/operator-port';

/** The result of looking at a key. */
export type Checked<T> =
  | { readonly kind: 'held'; readonly holder: T }
  | { readonly kind: 'wrong' }
  /** Wrong, and over the limit of wrong keys of its source. */
  | { readonly kind: 'slowed'; readonly retryAfterMs: number };

/** Limits wrong keys by the source they come from. A valid key passes, however many wrong ones came before it. */
export interface Guessing {
  /** Rejects when `holderOf` does, and counts nothing. `address` is the IP address of the visitor. */
  check<T>(address: string | undefined, holderOf: () => Promise<T | null>): Promise<Checked<T>>;
}

export interface GuessingOptions {
  readonly wrongKeys: WrongKeyStore;
  /** Throttled: wrong keys may come by the thousand. */
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'keyRefused'>;
}

/** Wrong keys of one source within a window. */
export const WRONG_KEYS_MAX = 10;
const WINDOW_MS = 60_000;

export function createGuessing({ wrongKeys, log, metrics }: GuessingOptions): Guessing {
  return {
    async check(address, holderOf) {
      const holder = await holderOf();
      if (holder !== null) return { kind: 'held', holder };
      const source = sourceOf(address);
      const retryAfterMs = await wrongKeys.count(source, { max: WRONG_KEYS_MAX, windowMs: WINDOW_MS });
      metrics.keyRefused(retryAfterMs === null ? 'wrong' : 'slowed');
      if (retryAfterMs === null) return { kind: 'wrong' };
      log.warn('auth.guessing', { address: source });
      return { kind: 'slowed', retryAfterMs };
    },
  };
}
