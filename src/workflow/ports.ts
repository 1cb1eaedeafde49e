import type { Delivery, Quarantined, Task, TowRecord } from '../contracts/records';
import type { FieldRule } from '../domain/refusal';
import type { NewTask } from '../domain/tasks';
import type { ReportStanding } from '../domain/outbox';
import type { Tow } from '../domain/tow';
import type { DeliveryKind, JsonObject, ReportKind, Role, TowState } from '../domain/vocabulary';

/** What the use cases need of the world, each port no larger than its users. */

/** The effect of a request is remembered under its `Idempotency-Key` by the same script that writes it. */
export interface Remember {
  /** Method, path and key. */
  readonly scope: string;
  /** Tells whether a later request under the same key asks for the same thing. */
  readonly fingerprint: string;
}

/** For effects whose answer is known beforehand: written by the same script, so that no crash can part them. */
export interface RememberAnswer extends Remember {
  readonly answer: string;
}

export type Saved =
  | { readonly kind: 'saved' }
  /** Somebody was faster: read again, decide again. */
  | { readonly kind: 'stale' }
  /** There is no such thing. */
  | { readonly kind: 'unknown' }
  /** A request under the same key had its effect before; this one has none. */
  | { readonly kind: 'remembered'; readonly fingerprint: string };

/** The answers given to requests with an `Idempotency-Key`. */
export interface AnswerStore {
  /** What is remembered for a scope; the answer is null between the effect and the first answer. */
  find(scope: string): Promise<{ readonly fingerprint: string; readonly answer: string | null } | null>;
  /** Stores an answer, unless one is stored: everybody gets the first. Returns the one that counts. */
  settle(scope: string, answer: string): Promise<string>;
}

/** A report to append to the outbox. */
export interface NewReport {
  readonly kind: ReportKind;
  readonly body: JsonObject;
}

/** What a fact or a webhook changes on a tow. */
export interface TowChange {
  readonly tow: Tow;
  readonly reports: readonly NewReport[];
  /** Ids of reports that surely had no effect, to be waived. */
  readonly withdraw: { readonly ids: readonly string[]; readonly reason: string };
  readonly timeline: readonly JsonObject[];
  readonly openTasks: readonly NewTask[];
  readonly closeTasks: readonly string[];
  /** Words under which the tow shall be found from now on. */
  readonly searchTerms: readonly string[];
  /** The delivery this change settles. */
  readonly delivery: { readonly id: string; readonly verdict: string } | null;
  /** True when the answered and the posted invoice were compared. */
  readonly reconciled: boolean;
}

/** A person's decision on one report. */
export type ReportDecision = { readonly reportId: string; readonly by: string } & (
  | { readonly action: 'retry' }
  | {
      readonly action: 'correct';
      readonly body: JsonObject;
      readonly fields: JsonObject;
      readonly tow: Tow;
      readonly searchTerms: readonly string[];
    }
  | { readonly action: 'waive'; readonly reason: string; readonly alsoWaive: readonly ReportStanding[] }
  | { readonly action: 'accept'; readonly reason: string }
);

export interface TowFilter {
  readonly state: TowState | null;
  readonly search: string | null;
  readonly attention: boolean;
  readonly cursor: string | null;
  readonly limit: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

export interface TowStore {
  read(ref: string): Promise<TowRecord | null>;
  list(filter: TowFilter): Promise<Page<TowRecord>>;
  create(
    tow: Tow,
    from: { deliveryId: string; searchTerms: readonly string[]; timeline: JsonObject },
  ): Promise<{ created: boolean; unparked: readonly string[] }>;
  /** Parks an invoice delivery, only if the tow still is unknown. */
  park(ref: string, deliveryId: string, task: { afterMs: number; task: NewTask }): Promise<'parked' | 'exists'>;
  save(before: TowRecord, change: TowChange, remember?: Remember): Promise<Saved>;
  decide(before: TowRecord, decision: ReportDecision, remember?: Remember): Promise<Saved>;
}

export interface DeliveryStore {
  read(id: string): Promise<Delivery | null>;
  list(page: { cursor: string | null; limit: number }): Promise<Page<Delivery>>;
  replay(id: string, remember?: Remember): Promise<Saved>;
  quarantined(limit: number): Promise<readonly Quarantined[]>;
}

export interface TaskStore {
  list(page: { cursor: string | null; limit: number }): Promise<Page<Task>>;
  read(id: string): Promise<Task | null>;
  /** Closes a task that only informs; its answer is remembered with the effect, since the task is gone afterwards. */
  resolve(task: Task, resolution: Resolution): Promise<Saved>;
}

export interface Resolution {
  readonly by: string;
  readonly reason: string | null;
  readonly remember: RememberAnswer | undefined;
}

/** A person's or a program's way in. The key itself is never stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
}

export interface ApiKeyStore {
  /** The key that hashes to this, null when there is none. */
  findByHash(hash: string): Promise<ApiKey | null>;
  list(): Promise<readonly ApiKey[]>;
  create(key: ApiKey, hash: string, remember?: RememberAnswer): Promise<Saved>;
  /** False when there is no such key. */
  revoke(id: string): Promise<boolean>;
}

/** What the receiver hands over for safe keeping. */
export interface NewDelivery {
  readonly id: string;
  readonly kind: DeliveryKind;
  readonly towingReferenceId: string;
  readonly rawBody: string;
  readonly verified: boolean;
  readonly signatureId: string | null;
}

export interface Intake {
  /** Resolves once the delivery is stored; rejects when that is not certain. */
  accept(delivery: NewDelivery): Promise<'accepted' | 'already_known'>;
  /** Keeps the raw body of a call that broke the contract, for people. */
  quarantine(call: { path: string; details: readonly FieldRule[]; rawBody: string }): Promise<void>;
}

/** Wakes a worker for a record. Best effort: the due mark finds what a lost wake-up leaves. */
export interface Wake {
  delivery(id: string): void;
  tow(ref: string): void;
}
