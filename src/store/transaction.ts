import type { Redis } from 'ioredis';
import type { EventType } from '../contracts/records';
import type { StoredBudgetState } from '../contracts/stored-budgets';
import type { AuditEntry } from '../domain/audit';
import type { CircuitEffects, CircuitName, Circuits } from '../domain/circuits';
import type { WaitingAtCircuit } from '../domain/claim-entry';
import type { Delivery } from '../domain/delivery';
import type { Difference, DifferenceChoice, SeenDifference } from '../domain/difference';
import {
  draftOf,
  nextVersion,
  type OutboxRecord,
  type RecordName,
  type StoredTow,
  type StoredViolation,
  type RecordKind,
} from '../domain/outbox-record';
import { dueAtMs, scheduleAfterChange } from '../domain/outbox-schedule';
import type { NewTask } from '../domain/tasks';
import { DAY_MS } from '../domain/timestamp';
import { metadataIdOf, type Violation } from '../domain/violation';
import type { IdempotencyRecord, Transaction } from '../workflow/transaction-port';
import { CircuitDrafts, type CircuitsMemory } from './circuit-drafts';
import { waitingAt, type TurnedCircuit } from './circuits';
import type { Check, Commit, CommitPart, Effect, RecordChange } from './commit';
import { DeliveryDrafts } from './delivery-records';
import { decidedUntil, decisionWrites, sightingWrites } from './differences';
import { eventEffect, type NewEvent } from './events';
import { indexEffects } from './indexes';
import { idempotencyKey, KEYS, violationKey } from './keys';
import { immediateEffects } from './immediate';
import { dueMembersOf, nudgesOf } from './nudges';
import { packFields, type Fields } from './packed-fields';
import { changeOfFields, fieldsAfter, type RecordPart } from './record-parts';
import {
  complete,
  dueOf,
  dueOfMember,
  endedLeaseMs,
  eventsOf,
  latestForLease,
  permitQueueEffects,
} from './record-effects';
import { decodeRecord, keyOf, partsOf, RECORD_KEYS } from './record-kinds';
import { fieldsOrDamaged, orDamaged } from './readable-records';
import { closingOf, openingOf } from './task-changes';
import { newStoredViolation } from './violation-fields';
import { wellFormedJson } from './scripts';

/**
 * Drafts of records, and the commit of their changes. Indexes, schedules, tasks and events follow from the difference.
 */

/** More records than a process works on at a time. */
const LEASED_MAX = 1000;

interface LoadedRecord<R> {
  readonly before: R | null;
  readonly fields: Fields;
  /** The parts of `before`, if this process has kept them. */
  readonly parts: readonly RecordPart[] | null;
  after: R | null;
}

/** A record as this process has last written it. Never changed: transactions may share it. */
interface WrittenRecord {
  readonly record: OutboxRecord;
  readonly fields: Fields;
  readonly parts: readonly RecordPart[];
}

/**
 * State that a process keeps between transactions. A commit on outdated state is stale and is decided again on fresh
 * reads.
 */
export interface TransactionMemory {
  readonly leased: Map<string, WrittenRecord>;
  readonly circuits: CircuitsMemory;
  /** Whether a worker takes a single tow that a commit makes due at once. Otherwise a scheduler adds its job. */
  hasImmediateTows: boolean;
}

/** The records that one decision reads and changes. */
export class RecordTransaction implements Transaction {
  readonly #records = new Map<string, LoadedRecord<OutboxRecord>>();
  readonly #written = new Map<string, WrittenRecord>();
  readonly #dues = new Map<string, number | null>();
  readonly #rewritten = new Set<string>();
  readonly #effects: Effect[] = [];
  readonly #checks: Check[] = [];
  readonly #events: NewEvent[] = [];
  readonly #others: RecordChange[] = [];
  readonly #circuits: CircuitDrafts;
  readonly #deliveries: DeliveryDrafts;

  constructor(
    private readonly redis: Redis,
    private readonly newId: () => string,
    /** Redis time at the start of the decision, Unix ms. */
    readonly nowMs: number,
    private readonly memory: TransactionMemory,
    /** Whether the kept state of a leased record is used instead of a read. */
    private readonly usesKept: boolean,
  ) {
    this.#circuits = new CircuitDrafts(redis, nowMs, memory.circuits);
    this.#deliveries = new DeliveryDrafts(redis);
  }

  async tow(ref: string): Promise<StoredTow> {
    const loaded = await this.#load({ kind: 'tow', id: ref });
    if (loaded.after?.kind !== 'tow') throw new Error('not a tow');
    return loaded.after;
  }

  async violation(id: string): Promise<StoredViolation | null> {
    const loaded = await this.#load({ kind: 'violation', id });
    return loaded.after?.kind === 'violation' ? loaded.after : null;
  }

  createViolation(violation: Violation): StoredViolation {
    const { id } = violation;
    const record = newStoredViolation(violation, this.nowMs);
    this.#records.set(violationKey(id), { before: null, fields: {}, parts: [], after: record });
    this.effect(['HSET', KEYS.violationAliases, metadataIdOf(violation), id, id, id]);
    return record;
  }

  /** Removes a record and its index entries. */
  remove(record: OutboxRecord): void {
    const loaded = this.#records.get(keyOf(record));
    if (loaded) loaded.after = null;
  }

  circuits({ isFresh = false } = {}): Promise<Circuits> {
    return this.#circuits.draft(isFresh);
  }

  /** The same for the result of a call; see CircuitDrafts. */
  circuitsForResult(): Promise<Circuits> {
    return this.#circuits.draftForResult();
  }

  get circuitEffects(): CircuitEffects {
    return this.#circuits.effects;
  }

  /** What the service says about the rate limit of the calls of these records. */
  budgetState(kind: RecordKind): Promise<StoredBudgetState> {
    return this.#circuits.budgetState(kind);
  }

  /** Reads the circuits that a claim needs together with its record. */
  preloadCircuits(): Promise<void> {
    return this.#circuits.preload();
  }

  async waiting(): Promise<Partial<Record<CircuitName, WaitingAtCircuit>>> {
    return waitingAt(this.redis, await this.circuits());
  }

  /** A draft of a violation by our id or by the id in its metadata. */
  violationById(name: string): Promise<StoredViolation | null> {
    return this.#violationOf(KEYS.violationAliases, name);
  }

  /** A draft of the violation that has a name of the service. */
  violationByReference(reference: string): Promise<StoredViolation | null> {
    return this.#violationOf(KEYS.violationReferences, reference);
  }

  setReferenceOwner(reference: string, id: string): void {
    this.effect(['HSET', KEYS.violationReferences, reference, id]);
  }

  delivery(id: string, known: Delivery | null = null): Promise<Delivery | null> {
    return this.#deliveries.load(id, known);
  }

  receivedAtMs(id: string): Promise<number | null> {
    return this.#deliveries.receivedAtMs(id);
  }

  scheduleDelivery(id: string, atMs: number | null): void {
    this.#deliveries.schedule(id, atMs);
  }

  /** Removes a delivery that was loaded before. */
  removeDelivery(id: string): void {
    this.#deliveries.remove(id);
  }

  async scheduledDeliveries(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const scores = await this.redis.zmscore(KEYS.dueDeliveries, ...ids);
    return new Set(ids.filter((_, at) => scores[at] !== null));
  }

  #add({ checks, effects }: CommitPart): void {
    for (const check of checks) this.check(check);
    this.effect(...effects);
  }

  async openGeneralTask(task: NewTask): Promise<boolean> {
    const opening = await openingOf(this.redis, task, this.nowMs);
    if (opening) this.#add(opening);
    return opening !== null;
  }

  async closeGeneralTask(id: string): Promise<boolean> {
    const closing = await closingOf(this.redis, id, this.nowMs);
    if (closing) this.#add(closing);
    return closing !== null;
  }

  async recordDifference(seen: SeenDifference, count = 1): Promise<string | null> {
    return (await this.prepareDifference(seen, count))();
  }

  /** Reads what recordDifference needs. The returned function does the rest of it, once. */
  async prepareDifference(seen: SeenDifference, count = 1): Promise<() => string | null> {
    const sighting = await sightingWrites(this.redis, { seen, count, nowMs: this.nowMs });
    return () => {
      this.#add(sighting);
      return sighting.openId;
    };
  }

  /** See decidedUntil. The commit is stale when a kind is decided meanwhile. */
  async decidedDifferences(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { until, checks } = await decidedUntil(this.redis, ids);
    this.#add({ checks, effects: [] });
    return until;
  }

  async decideDifference(id: string, choice: DifferenceChoice): Promise<Difference | null> {
    const deciding = await decisionWrites(this.redis, { id, ...choice }, this.nowMs);
    if (!deciding) return null;
    this.#add(deciding);
    return deciding.difference;
  }

  async isArchived(ref: string): Promise<boolean> {
    return (await this.redis.zscore(KEYS.archivedMarkers, ref)) !== null;
  }

  fingerprintOf(scope: string): Promise<string | null> {
    return this.redis.hget(idempotencyKey(scope), 'fingerprint');
  }

  /** The commit is stale when another request is stored under the key meanwhile. */
  storeIdempotency(idempotency: IdempotencyRecord & { readonly answer?: string }): void {
    const key = idempotencyKey(idempotency.scope);
    this.check({ key, field: 'fingerprint', value: '' });
    const answer = idempotency.answer === undefined ? {} : packFields({ answer: idempotency.answer });
    const fields = Object.entries({ fingerprint: idempotency.fingerprint, ...answer }).flat();
    this.effect(['HSET', key, ...fields], ['EXPIRE', key, DAY_MS / 1000]);
  }

  audit(entry: AuditEntry | null): void {
    if (entry) this.effect(['AUDIT', KEYS.audit, wellFormedJson(entry)]);
  }

  effect(...effects: readonly Effect[]): void {
    this.#effects.push(...effects);
  }

  check(check: Check): void {
    this.#checks.push(check);
  }

  /** Adds the change of a record of another kind. */
  change(change: Pick<RecordChange, 'key' | 'expected' | 'set' | 'remove'>): void {
    this.#others.push({ ...change, version: nextVersion(change.expected, this.newId()) });
  }

  publish(type: EventType, about: Omit<NewEvent, 'type'> = {}): void {
    this.#events.push({ type, ...about });
  }

  /** Gives a record a new version even if it does not change: another commit that was decided on the old one is stale. */
  writeVersion(record: OutboxRecord): void {
    this.#rewritten.add(keyOf(record));
  }

  /** Sets when a record is due, even if it does not change. Without `atMs`, as its rules require. */
  schedule(record: OutboxRecord, atMs?: number | null): void {
    this.#dues.set(keyOf(record), atMs === undefined ? scheduleAfterChange(record, this.nowMs) : atMs);
  }

  /** The commit of all changes; null without any. */
  commit(): Commit | null {
    const records: RecordChange[] = [];
    for (const [key, loaded] of this.#records) records.push(...this.#changeOf(key, loaded));
    const circuits = this.#circuitsChange();
    const deliveries = this.#deliveries.changes(this.newId);
    this.#events.push(...deliveries.events);
    const effects = [...this.#effects, ...deliveries.effects, ...this.#dueEffects()];
    const all = [...records, ...circuits, ...this.#others, ...deliveries.records];
    if (effects.length === 0 && !all.some(({ version, isGone }) => version !== undefined || isGone)) return null;
    const due = dueMembersOf(effects, this.nowMs);
    const [first, ...others] = due;
    const isImmediate = this.memory.hasImmediateTows && first?.queue === 'reports' && others.length === 0;
    effects.push(...(isImmediate ? immediateEffects(first.ref) : nudgesOf(due)));
    effects.push(...this.#events.map((event) => eventEffect(event, this.nowMs)));
    return { records: all, checks: this.#checks, effects };
  }

  /** The violation of a name. The commit is stale when the name gets another owner meanwhile. */
  async #violationOf(key: string, field: string): Promise<StoredViolation | null> {
    const owner = await this.redis.hget(key, field);
    this.check({ key, field, value: owner ?? '' });
    return owner === null ? null : this.violation(owner);
  }

  async #load(name: RecordName): Promise<LoadedRecord<OutboxRecord>> {
    const key = RECORD_KEYS[name.kind].record(name.id);
    const known = this.#records.get(key);
    if (known) return known;
    const kept = this.usesKept ? this.memory.leased.get(key) : undefined;
    const fields = kept?.fields ?? (await fieldsOrDamaged(this.redis, key, name));
    // Reads of one record at the same time share one draft, so that no change to it is lost.
    const meanwhile = this.#records.get(key);
    if (meanwhile) return meanwhile;
    const before: OutboxRecord | null = kept?.record ?? orDamaged(name, () => decodeRecord(name.kind, name.id, fields));
    const after = before && draftOf(before);
    const loaded: LoadedRecord<OutboxRecord> = { before, fields, parts: kept?.parts ?? null, after };
    this.#records.set(key, loaded);
    return loaded;
  }

  #changeOf(key: string, loaded: LoadedRecord<OutboxRecord>): RecordChange[] {
    const { before, fields, after } = loaded;
    const read = { key, expected: fields['v'] ?? '', notBeforeMs: endedLeaseMs(before, this.nowMs) };
    if (!after) {
      if (!before) return [read];
      this.effect(...indexEffects(before, null), ...dueOf(before, null));
      return [{ isGone: true, ...read }];
    }
    complete(before, after, this.nowMs);
    const parts = partsOf(after);
    const was = loaded.parts ?? (before ? partsOf(before) : []);
    const change = changeOfFields(was, parts, { stored: fields, packs: after.overSinceMs !== null });
    const newVersion = () => nextVersion(read.expected, this.newId());
    if (!change) return [this.#rewritten.has(key) ? { version: newVersion(), ...read } : read];
    const { set, remove } = change;
    this.effect(...indexEffects(before, after), ...permitQueueEffects(before, after, this.nowMs));
    if (parts.length === 0) return [{ isGone: true, ...read }];
    const isDueSame = before !== null && dueAtMs(before, this.nowMs) === dueAtMs(after, this.nowMs);
    if (!isDueSame && !this.#dues.has(key)) this.schedule(after);
    this.#events.push(...eventsOf(before, after));
    const version = newVersion();
    this.#written.set(key, { record: { ...after, version }, fields: fieldsAfter(fields, change, version), parts });
    return [{ version, set, remove, notAfterMs: latestForLease(before, after, this.nowMs), ...read }];
  }

  /** After the commit: keeps the written records that this process has leased, by this commit or before it. */
  keepWritten(): void {
    const { leased } = this.memory;
    if (leased.size > LEASED_MAX) leased.clear();
    for (const [key, written] of this.#written) {
      const token = written.record.lease?.token;
      const isGranted = token !== this.#records.get(key)?.before?.lease?.token;
      const isOurs = isGranted || token === leased.get(key)?.record.lease?.token;
      // Facts are also recorded while another process has the lease.
      if (token !== undefined && isOurs) leased.set(key, written);
      else leased.delete(key);
    }
    if (this.#circuits.hasChanged) this.#circuits.forget();
  }

  get changesCircuits(): boolean {
    return this.#circuits.hasChanged;
  }

  /** The circuits that the commit opens or closes. */
  get turnedCircuits(): readonly TurnedCircuit[] {
    return this.#circuits.turned;
  }

  /** After a stale commit: drops the kept state, which is outdated. */
  forget(): void {
    for (const key of this.#records.keys()) this.memory.leased.delete(key);
    this.#circuits.forget();
  }

  #circuitsChange(): RecordChange[] {
    const change = this.#circuits.changes(this.newId);
    if (!change) return [];
    this.effect(...change.effects);
    this.#events.push(...change.events);
    return change.records;
  }

  #dueEffects(): Effect[] {
    const dues: Effect[] = [];
    for (const [key, atMs] of this.#dues) {
      const record = this.#records.get(key)?.after;
      if (record) dues.push(...dueOf(record, atMs));
    }
    for (const member of this.circuitEffects.due) dues.push(dueOfMember(member, this.nowMs));
    return dues;
  }
}
