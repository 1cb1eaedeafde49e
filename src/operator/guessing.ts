import type { IncomingMessage } from 'node:http';
import { ipKeyGenerator } from 'express-rate-limit';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Metrics } from '../platform/metrics';

/** What became of a key that a call carried. */
export type Checked<T> =
  | { readonly kind: 'held'; readonly holder: T }
  | { readonly kind: 'wrong' }
  /** It was not even looked at: too many wrong ones came from there. */
  | { readonly kind: 'slowed'; readonly retryAfterMs: number };

/** Slows the guessing of keys, counted by this process alone. */
export interface Guessing {
  /** Checks a key by its hash, unless its address has guessed too often. Rejects when `holderOf` does, and counts nothing. */
  check<T>(call: { address: string; hash: string }, holderOf: () => Promise<T | null>): Promise<Checked<T>>;
}

export interface GuessingOptions {
  readonly clock: Clock;
  /** Throttled: whoever guesses does it by the thousand. */
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'keyRefused'>;
}

/** So many wrong keys may come from one address within the window. */
export const WRONG_KEYS_MAX = 10;
export const WINDOW_MS = 60_000;
/** A key that was valid so lately is checked whoever guesses from its address: behind one proxy there are many people. */
export const VALID_LATELY_MS = 5 * 60_000;
/** Beyond these the ones longest unheard of are forgotten. */
const ADDRESSES_MAX = 10_000;
const VALID_KEYS_MAX = 10_000;

export function createGuessing({ clock, log, metrics }: GuessingOptions): Guessing {
  /** The moments of the last wrong keys by address, oldest first. */
  const wrong = new Map<string, readonly number[]>();
  /** Until when a key counts as valid lately, by its hash. */
  const valid = new Map<string, number>();
  /** Checks under way by address: each may turn out to be a guess. */
  const underWay = new Map<string, Set<Promise<unknown>>>();

  const wasValidLately = (hash: string) => (valid.get(hash) ?? 0) > clock.monotonicMs();
  const wrongLately = (address: string) =>
    (wrong.get(address) ?? []).filter((atMs) => clock.monotonicMs() - atMs < WINDOW_MS);

  const look = async <T>({ address, hash }: { address: string; hash: string }, holderOf: () => Promise<T | null>) => {
    const holder = await holderOf();
    if (holder !== null) {
      remember(valid, [hash, clock.monotonicMs() + VALID_LATELY_MS], VALID_KEYS_MAX);
      return { kind: 'held', holder } as const;
    }
    valid.delete(hash);
    const moments = [...wrongLately(address), clock.monotonicMs()].slice(-WRONG_KEYS_MAX);
    remember(wrong, [address, moments], ADDRESSES_MAX);
    metrics.keyRefused('wrong');
    return { kind: 'wrong' } as const;
  };

  /** Each check is no more than another guess, so that guesses made at the same time are counted like those in a row. */
  const counted = async <T>(address: string, looking: Promise<T>): Promise<T> => {
    const ended = looking.catch(() => null);
    const running = underWay.get(address) ?? new Set();
    underWay.set(address, running.add(ended));
    try {
      return await looking;
    } finally {
      running.delete(ended);
      if (running.size === 0) underWay.delete(address);
    }
  };

  return {
    async check(call, holderOf) {
      const { address, hash } = call;
      while (!wasValidLately(hash)) {
        const moments = wrongLately(address);
        const [oldestMs] = moments;
        if (oldestMs !== undefined && moments.length >= WRONG_KEYS_MAX) {
          metrics.keyRefused('slowed');
          log.warn('auth.guessing', { address });
          return { kind: 'slowed', retryAfterMs: WINDOW_MS - (clock.monotonicMs() - oldestMs) };
        }
        const running = underWay.get(address) ?? new Set();
        if (moments.length + running.size < WRONG_KEYS_MAX) return counted(address, look(call, holderOf));
        await Promise.race(running);
      }
      return look(call, holderOf);
    },
  };
}

/**
 * Where a call comes from: the other end of its connection, since no proxy is believed. An IPv6 client has a whole network
 * of addresses, which counts as one.
 */
export function addressOf({ socket }: IncomingMessage): string {
  return socket.remoteAddress === undefined ? 'unknown' : ipKeyGenerator(socket.remoteAddress);
}

function remember<V>(map: Map<string, V>, [key, value]: readonly [string, V], max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
