import type { AuditView } from '../contracts/ops/audit';
import type { SendingView } from '../contracts/operator';
import type { OtherCall, Task } from '../contracts/outbox/records';
import type { AuditEntry } from '../domain/ops/audit';
import type { Delivery } from '../domain/webhook/delivery';
import type { Difference } from '../domain/service/difference';
import type { OverdueAfter } from '../domain/outbox/overdue';
import type { Role, ViolationState } from '../domain/vocabulary';
import type { ActionResult } from './action-result';
import type { TowCounts } from '../contracts/operator';
import type { Page, TaskList, TowFilter } from './list-port';
import type { IdempotencyRecord } from './transaction-port';
import type { StoredViolation } from '../domain/outbox/outbox-record';
import type { KnownTow } from '../domain/tow/stored-tow';
import type { AsRead } from './outbox/read-record';

/** The ports through which use cases reach the outside, each as small as its users allow. */

/** A write by a person: its audit entry and Idempotency-Key are stored by the commit of its effect. */
export interface AuditedWrite {
  readonly audit: AuditEntry;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** The answers given to requests with an `Idempotency-Key`. */
export interface AnswerStore {
  /** The stored request; its answer is null between the effect and the first answer. */
  find(scope: string): Promise<{ readonly fingerprint: string; readonly answer: string | null } | null>;
  /** Stores an answer unless one is stored. Returns the stored one: all repetitions get the first. */
  settle(scope: string, answer: string): Promise<string>;
}

/** Tows as lists and pages read them; only decisions on drafts change them (transaction-port.ts). */
export interface TowStore {
  read(ref: string): Promise<AsRead<KnownTow> | null>;
  /** A page of tows. It reads at most 20,000, so a page may be short or empty without being the last. */
  list(filter: TowFilter): Promise<Page<AsRead<KnownTow>>>;
  /** Many tows at once, in the order given; what is not there is left out. */
  listByRefs(refs: readonly string[]): Promise<readonly AsRead<KnownTow>[]>;
  /**
   * `overdue` is exact, unless more than 10,000 tows are overdue in their state and more than 10,000 have an unsettled
   * report: then an estimate.
   */
  counts(overdueAfter: OverdueAfter): Promise<TowCounts>;
}

/** Kinds of differences as lists and pages read them; only a transaction changes them (transaction-port.ts). */
export interface DifferenceStore {
  /** All kinds, the oldest first. There are few. */
  all(): Promise<readonly Difference[]>;
}

export interface DeliveryStore {
  read(id: string): Promise<Delivery | null>;
  /** Newest first. `differing`: only those that wait with one of these kinds of differences. */
  list(page: { cursor: string | null; limit: number; differing?: readonly string[] }): Promise<Page<Delivery>>;
  /** The ids of deliveries that wait with this kind of difference, at most `max`, the oldest first. */
  ids(differenceId: string, max: number): Promise<readonly string[]>;
  /** Kept calls on paths of no webhook, newest first. */
  others(limit: number): Promise<readonly OtherCall[]>;
}

/** What blocks sending for all tows. */
export interface SendingStore {
  read(): Promise<SendingView>;
  /** How many tows and violations wait for a circuit. */
  held(): Promise<number>;
}

export interface TaskStore extends TaskList {
  /** Null also for an open task that this process cannot read; see isStored. */
  read(id: string): Promise<Task | null>;
  /** Whether a task is open, readable or not. */
  isStored(id: string): Promise<boolean>;
  /** The open ones of the given tasks, in the given order; one read for all. */
  readMany(ids: readonly string[]): Promise<readonly Task[]>;
}

/** The audit: the record of what people did. */
export interface AuditStore {
  /** A page of unarchived entries, newest first. With a tow a page may be short or empty without being the last. */
  list(filter: {
    readonly cursor: string | null;
    readonly limit: number;
    readonly towingReferenceId: string | null;
  }): Promise<Page<AuditView>>;
  /** All unarchived stored lines, oldest first. */
  lines(): Promise<readonly string[]>;
  /** Adds an entry for an act whose effect is not in a commit of ours. */
  append(act: AuditedWrite): Promise<ActionResult>;
}

/** The API key of a person or program. The key itself is never stored. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: string;
}

/** A key as lists show it. */
export interface ListedApiKey extends ApiKey {
  /** When the key before a rotation expires; null when there is none. */
  readonly previousValidUntil: string | null;
}

export interface ApiKeyStore {
  /** The key with this hash, or with this hash before a rotation within its grace time; null when there is none. */
  findByHash(hash: string): Promise<ApiKey | null>;
  read(id: string): Promise<ListedApiKey | null>;
  list(): Promise<readonly ListedApiKey[]>;
  /** Stores `answer` under the Idempotency-Key, so it must not have the text of the key. Refuses a name in use. */
  create<T extends object>(
    key: ApiKey,
    hash: string,
    act: AuditedWrite & { readonly answer: T },
  ): Promise<ActionResult<T>>;
  /** Replaces the key text. The previous one stays valid for the grace time. Refuses when there is no such key. */
  rotate(id: string, to: { readonly hash: string; readonly graceMs: number }, act: AuditedWrite): Promise<ActionResult>;
  /** Refuses when there is no such key. */
  revoke(id: string, audit: AuditEntry): Promise<ActionResult>;
}

/** A webhook call to store. */
export type NewDelivery = Pick<
  Delivery,
  'id' | 'kind' | 'towingReferenceId' | 'rawBody' | 'verified' | 'signatureId' | 'signedAtMs'
>;

/** Counts calls per source in windows of one minute, for all processes together. */
export interface CallCounter {
  /** Counts one call. Returns the calls of the source in the current window, and the time until the window ends. */
  count(source: string): Promise<{ calls: number; windowEndsInMs: number }>;
}

export interface Intake {
  /** Resolves once the delivery is stored; rejects when that is uncertain. */
  accept(delivery: NewDelivery): Promise<'accepted' | 'already_known'>;
  /** Keeps a call on a path of no webhook, for review. One that names a tow opens the task about such calls. */
  keepOther(call: { path: string; verified: boolean; rawBody: string; namesTow: boolean }): Promise<void>;
}

export interface ViolationFilter {
  readonly state: ViolationState | null;
  /** A prefix of a reference, id or plate. */
  readonly search: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** Violations as lists and pages read them; only decisions on drafts change them (transaction-port.ts). */
export interface ViolationStore {
  /** By our id, or by the id in its metadata. */
  read(id: string): Promise<AsRead<StoredViolation> | null>;
  /** By our ids. Without those that are unknown or that this process cannot use. */
  listByIds(ids: readonly string[]): Promise<readonly AsRead<StoredViolation>[]>;
  list(filter: ViolationFilter): Promise<Page<AsRead<StoredViolation>>>;
}

/** Locks between processes by name, with fencing numbers. */
export interface Locks {
  /** Acquires a lock for `ttlMs`; null while another process has it. Works while Redis has no memory left. */
  acquire(name: string, ttlMs: number): Promise<OwnedLock | null>;
}

export interface OwnedLock {
  /** The fencing number. Each acquisition of a lock gets a higher one. */
  readonly epoch: number;
  /** Makes the lock last for its lifetime from now; false when it was lost. */
  renew(): Promise<boolean>;
  /** False from the time at which the lock may have expired, by the local clock. */
  isSurelyOwned(): boolean;
  release(): Promise<void>;
}
