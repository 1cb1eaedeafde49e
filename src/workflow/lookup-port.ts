import type { Exchange } from '../domain/policy';
import type { JsonObject } from '../domain/vocabulary';

/** What the questions to the service need: somewhere to keep answers, and one asker at a time. */

/** What was asked, as words in a fixed order. It may name a plate: it is kept as its hash alone. */
export type Question = readonly string[];

/** An answer of the service, and when it gave it (ms since the epoch). */
export interface KeptAnswer {
  readonly data: JsonObject;
  readonly checkedAtMs: number;
}

/**
 * Why a question got no answer.
 *
 * - refused: the service takes exception to the question itself; asking again changes nothing.
 * - budget_spent: the calls of this minute are used up; nothing was asked.
 * - connection_lost: no token, a token that is refused, or a wrong address.
 * - forbidden: the service does not let this operator ask (403).
 * - unavailable: the service failed, was not reached, or said that it was asked too often.
 * - answer_broken: the service answered something that breaks its contract.
 */
export type NoAnswer =
  | {
      readonly why: 'refused';
      /** The service's own words where it had any. */
      readonly message: string;
      /** The field they are about, by its name on the wire; null when they do not tell. */
      readonly field: string | null;
    }
  | {
      readonly why: 'budget_spent' | 'connection_lost' | 'forbidden' | 'unavailable' | 'answer_broken';
      /** When asking again is worth while, ms from now. */
      readonly retryAfterMs: number;
      readonly exchange: Exchange;
    };

/** What asking came to. */
export type Asked =
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'not_answered'; readonly because: NoAnswer };

export interface LookupCache {
  /**
   * The answer to a question: one that is kept, else that of whoever asks it at this moment in any process, and only when
   * nobody does, what `ask` brings; it is told how long was waited already. Good answers alone are kept; a failure is
   * shared by those of this process who waited for it. `busy`: somebody else asked for too long.
   */
  once(question: Question, ask: (waitedMs: number) => Promise<Asked>): Promise<Asked | { readonly kind: 'busy' }>;
}
