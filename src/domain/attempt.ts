import type { SeenDifference } from './difference';
import type { Entry, EntryAttempt, EntryError } from './entry';
import type { Verdict } from './policy';
import type { ServiceHealth } from './service-health';
import type { NewTask } from './tasks';
import type { AcceptedViolation } from './violation-names';
import type { JsonObject } from './vocabulary';

/** One attempt: the right to make it, and its result. */

/** The right to make one attempt. */
export interface AttemptRight {
  /** The entry as it was when the right was granted. */
  readonly entry: Pick<Entry, 'seq' | 'revision'>;
  readonly attemptId: string;
  readonly leaseToken: string;
  /** Consecutive connection failures when the right was granted. */
  readonly connectionFailures: number;
}

/** The result of one attempt. */
export interface AttemptResult {
  readonly verdict: Verdict;
  readonly attempt: Omit<EntryAttempt, 'attempt_id'>;
  readonly error: EntryError | null;
  /** The data of the answer, kept with the entry. */
  readonly answer: JsonObject | null;
  /** The raw body; kept when the answer broke the contract. */
  readonly rawBody: string | null;
  /** What the answer says about the created violation; null when it names none. */
  readonly acceptedViolation: AcceptedViolation | null;
  /** True when the attempt provably changed nothing at the service. */
  readonly hadNoEffect: boolean;
  /** False while its permit is unused and can be given back. */
  readonly isPermitSpent: boolean;
  /** True when the service answered, with any status that is not one of a wrong address. */
  readonly wasAnswered: boolean;
  /** True when something answered in place of the service. */
  readonly isForeign: boolean;
  readonly service: ServiceHealth;
  /** True when the service forbids the operation (403). */
  readonly isForbidden: boolean;
  /** The wait that the service requested, ms. */
  readonly askedMs: number;
  /** The wait before the next probe of an outage that this attempt begins or confirms, ms. */
  readonly outageDelayMs: number;
  /** True when, as far as is known, the connection broke for this entry only. */
  readonly isConnectionLoss: boolean;
  /** True when nothing was sent because the claim had expired. */
  readonly isTooOld: boolean;
  /** The task to open, if any. */
  readonly task: NewTask | null;
  /** How an accepting answer differs from its contract; null when it does not. */
  readonly difference: SeenDifference | null;
}
