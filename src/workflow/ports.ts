import type { AuditView } from '../contracts/audit';
import type { SendingView } from '../contracts/operator';
import type { Delivery, Quarantined, Task, TowRecord } from '../contracts/records';
import type { AuditEntry } from '../domain/audit';
import type { FieldRule } from '../domain/refusal';
import type { OverdueAfter } from '../domain/overdue';
import type { DeliveryKind, Role } from '../domain/vocabulary';
import type { Page, TaskList, TowCounts, TowFilter } from './list-port';
import type { Remember } from './transaction-port';

export type { Page, TowFilter } from './list-port';
export type { Remember } from './transaction-port';

/** What the use cases need of the world, each port no larger than its users. */

/** An Idempotency-Key whose answer is stored by the same commit as the effect. */
export interface RememberAnswer extends Remember {
  readonly answer: string;
}

/** What a person does: its audit entry and its Idempotency-Key are written by the commit of its effect. */
export interface Act<R extends Remember = Remember> {
  readonly audit: AuditEntry;
  readonly remember: R | undefined;
}

export type Saved =
  | { readonly kind: 'saved' }
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

/** Tows as lists and pages read them; only decisions on drafts change them (transaction-port.ts). */
export interface TowStore {
  read(ref: string): Promise<TowRecord | null>;
  /** A page of tows. It looks at 20,000 at most: a page may be short, or empty, and yet not the last. */
  list(filter: TowFilter): Promise<Page<TowRecord>>;
  /** Many tows at once, in the order given; what is not there is left out. */
  listByRefs(refs: readonly string[]): Promise<readonly TowRecord[]>;
  counts(overdueAfter: OverdueAfter): Promise<TowCounts>;
  /** The crews that have tows, by their names. */
  crews(): Promise<readonly string[]>;
}

export interface DeliveryStore {
  /** `readAtMs` is Redis time, as are the moments in the record. */
  read(id: string): Promise<(Delivery & { readonly readAtMs: number }) | null>;
  list(page: { cursor: string | null; limit: number }): Promise<Page<Delivery>>;
  quarantined(limit: number): Promise<readonly Quarantined[]>;
}

/** What holds sending, whichever tow it is for. */
export interface SendingStore {
  read(): Promise<SendingView>;
}

export interface TaskStore extends TaskList {
  read(id: string): Promise<Task | null>;
  /** Those of the named tasks that are open, in the order of their names; one look, however many. */
  readMany(ids: readonly string[]): Promise<readonly Task[]>;
}

/** The record of what people did. */
export interface AuditStore {
  /** A page of what is not archived yet, newest first. With a tow the page may be short, or empty, and yet not the last. */
  list(filter: {
    readonly cursor: string | null;
    readonly limit: number;
    readonly towingReferenceId: string | null;
  }): Promise<Page<AuditView>>;
  /** Every line that is not archived yet, oldest first, as it is stored. */
  lines(): Promise<readonly string[]>;
  /** The entry of an act whose effect no script of ours writes. */
  append(act: Act): Promise<Saved>;
}

/** A person's or a program's way in. The key itself is never stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
}

/** A key as people see it. */
export interface ListedApiKey extends ApiKey {
  /** Until when its text before a rotation is valid; null when that is over or never was. */
  readonly previousValidUntil: string | null;
}

export interface ApiKeyStore {
  /** The key that has, or within a grace time had, the text that hashes to this; null when there is none. */
  findByHash(hash: string): Promise<ApiKey | null>;
  read(id: string): Promise<ListedApiKey | null>;
  list(): Promise<readonly ListedApiKey[]>;
  /** `name_taken` when a key that lives has the name. */
  create(key: ApiKey, hash: string, act: Act<RememberAnswer>): Promise<Saved | { readonly kind: 'name_taken' }>;
  /** Gives it another text; the one before stays valid for the grace time. `unknown` when there is no such key. */
  rotate(id: string, to: { readonly hash: string; readonly graceMs: number }, act: Act): Promise<Saved>;
  /** `unknown` when there is no such key. */
  revoke(id: string, audit: AuditEntry): Promise<Saved>;
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

/** Nudges the pollers of a queue. Best effort: after a lost nudge they find what is due at their next interval. */
export interface Wake {
  delivery(id: string): void;
  tow(ref: string): void;
  violation(id: string): void;
}
