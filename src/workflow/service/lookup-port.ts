import type { Exchange } from '../../domain/service/policy';
import type { JsonObject } from '../../domain/vocabulary';

/** The cache of lookups at the service: it keeps answers and lets one process ask at a time. */

/** The parts of a question in a fixed order. It may contain a plate, so only its hash is stored. */
export type Question = readonly string[];

/** An answer, and when the service gave it (ms since the epoch). */
export interface KeptAnswer {
  readonly data: JsonObject;
  readonly checkedAtMs: number;
}

/**
 * Why a lookup has no answer.
 *
 * - refused: the service rejected the request; another try changes nothing.
 * - budget_spent: the rate limit has no permit; nothing was sent.
 * - connection_lost: no token, a refused token or a wrong address.
 * - forbidden: the service does not permit this operator to ask (403).
 * - unavailable: the service failed, was unreachable or throttled the call, or the call was not sent for another reason.
 * - answer_broken: the answer breaks the contract.
 */
export type NoAnswer =
  | {
      readonly why: 'refused';
      /** The message of the service, if it sent one. */
      readonly message: string;
      /** The wire name of the field it is about; null when unknown. */
      readonly field: string | null;
    }
  | {
      readonly why: 'budget_spent' | 'connection_lost' | 'forbidden' | 'unavailable' | 'answer_broken';
      /** When another try is useful, ms from now. */
      readonly retryAfterMs: number;
      readonly exchange: Exchange;
    };

export type LookupOutcome =
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'not_answered'; readonly because: NoAnswer };

export interface LookupCache {
  /**
   * Returns a cached answer, else the result of the same question in flight in any process, else the result of `ask`,
   * which gets the time already waited. Only good answers are cached. A failure is shared with those waiting in this
   * process. `busy`: another process did not answer in time.
   */
  once(
    question: Question,
    ask: (waitedMs: number) => Promise<LookupOutcome>,
  ): Promise<LookupOutcome | { readonly kind: 'busy' }>;
}
