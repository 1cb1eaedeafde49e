import type { AnswersByPath, AnsweredCalls, RefusalReason, SecretsFault } from '../../domain/webhook/webhook-answers';
import type { KeptRefusal } from '../../contracts/webhook/webhooks';

/** A refused call, as far as alarms need it. */
export interface CountedRefusal {
  readonly reason: RefusalReason;
  /** See `PathAnswers`. */
  readonly behindSeconds: number | null;
  readonly isProxied: boolean;
}

/** The newest refused calls of a day. */
export interface RefusedCallStore {
  keep(calls: readonly KeptRefusal[]): Promise<void>;
  /** Newest first. */
  list(limit: number): Promise<readonly KeptRefusal[]>;
}

/** What all receivers answered. */
export interface WebhookAnswers {
  readonly byPath: AnswersByPath;
  /** See `AcceptedHistory`. */
  readonly minutesOfHour: ReadonlyMap<number, number>;
  readonly secretsFault: SecretsFault | null;
  /** Redis time. */
  readonly readAtMs: number;
}

export interface WebhookAnswerStore {
  /** Adds answers. When it rejects, they may have been added. */
  add(answered: readonly AnsweredCalls[]): Promise<void>;
  /** Stores a fault until it is over, or for half a minute after the last call. */
  reportSecrets(fault: SecretsFault | null): Promise<void>;
  read(): Promise<WebhookAnswers>;
}
