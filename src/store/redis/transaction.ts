import type { Circuits } from '../../domain/service/stored-circuits';
import type { CircuitName } from '../../domain/vocabulary';
import type { Redis } from 'ioredis';
import type { RunResult } from '../../contracts/ops/runs';
import type { StoredBudgetState } from '../../contracts/service/stored-budgets';
import type { AuditEntry } from '../../domain/ops/audit';
import type { NewChange } from '../../domain/ops/changes';
import type { CircuitEffects } from '../../domain/service/circuits';
import type { WaitingAtCircuit } from '../../domain/outbox/claim-entry';
import type { Delivery } from '../../domain/webhook/delivery';
import type { Difference, Expected, SeenDifference } from '../../domain/service/difference';
import {
  nextVersion,
  type OutboxRecord,
  type StoredTow,
  type StoredViolation,
  type RecordKind,
} from '../../domain/outbox/outbox-record';
import type { NewTask } from '../../domain/ops/tasks';
import { DAY_MS } from '../../domain/timestamp';
import { metadataIdOf, type Violation } from '../../domain/violation/violation';
import type { IdempotencyRecord, RunItemPlace, Transaction } from '../../workflow/transaction-port';
import { CircuitDrafts, type CircuitsMemory } from '../service/circuit-drafts';
import { waitingAt, type TurnedCircuit } from '../service/circuits';
import type { Check, Commit, CommitPart, Effect, RecordChange } from './commit';
import { DeliveryDrafts } from '../webhook/delivery-records';
import { expectingWrites, sightingWrites } from '../service/differences';
import { changeEffect } from '../ops/changes';
import { idempotencyKey, KEYS, runKey } from '../keys';
import { OutboxDrafts, type LeasedRecord } from '../outbox/outbox-drafts';
import { packFields } from './packed-fields';
import { dueOfMember } from '../outbox/record-effects';
import { closingOf, openingOf } from '../ops/task-changes';
import { newStoredViolation } from '../violation/violation-fields';
import { wellFormedJson } from '../scripts';
import { putOffDue } from '../outbox/wake';

/** What one decision reads and writes, and the commit of it. */

/**
 * State that a process keeps between transactions. A commit on outdated state is stale and is decided again on fresh
 * reads.
 */
export interface TransactionMemory {
  readonly leased: Map<string, LeasedRecord>;
  readonly circuits: CircuitsMemory;
}

/** The records that one decision reads and changes. */
export class RecordTransaction implements Transaction {
  readonly #effects: Effect[] = [];
  readonly #checks: Check[] = [];
  readonly #changed: NewChange[] = [];
  readonly #others: RecordChange[] = [];
  readonly #outboxes: OutboxDrafts;
  readonly #circuits: CircuitDrafts;
  readonly #deliveries: DeliveryDrafts;

  constructor(
    private readonly redis: Redis,
    private readonly newId: () => string,
    /** Redis time at the start of the decision, Unix ms. */
    readonly nowMs: number,
    memory: TransactionMemory,
    /** Whether the kept state of a leased record is used instead of a read. */
    usesKept: boolean,
  ) {
    this.#outboxes = new OutboxDrafts(redis, { newId, nowMs, leased: memory.leased, usesKept });
    this.#circuits = new CircuitDrafts(redis, nowMs, memory.circuits);
    this.#deliveries = new DeliveryDrafts(redis);
  }

  async tow(ref: string): Promise<StoredTow> {
    const record = await this.#outboxes.load({ kind: 'tow', id: ref });
    if (record?.kind !== 'tow') throw new Error('not a tow');
    return record;
  }

  async violation(id: string): Promise<StoredViolation | null> {
    const record = await this.#outboxes.load({ kind: 'violation', id });
    return record?.kind === 'violation' ? record : null;
  }

  createViolation(violation: Violation): StoredViolation {
    const { id } = violation;
    const record = newStoredViolation(violation, this.nowMs);
    this.#outboxes.add(record);
    this.effect(['HSET', KEYS.violationAliases, metadataIdOf(violation), id, id, id]);
    return record;
  }

  /** Removes a record and its index entries. */
  remove(record: OutboxRecord): void {
    this.#outboxes.remove(record);
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
    const closing = await closingOf(this.redis, id);
    if (closing) this.#add(closing);
    return closing !== null;
  }

  async recordDifference(seen: SeenDifference, count = 1): Promise<string | null> {
    const sighting = await sightingWrites(this.redis, { seen, count, nowMs: this.nowMs });
    this.#add(sighting);
    return sighting.openId;
  }

  async expectDifference(id: string, given: Omit<Expected, 'atMs'>): Promise<Difference | null> {
    const expecting = await expectingWrites(this.redis, { id, ...given }, this.nowMs);
    if (!expecting) return null;
    this.#add(expecting);
    return expecting.difference;
  }

  async isArchived(ref: string): Promise<boolean> {
    return (await this.redis.zscore(KEYS.archivedMarkers, ref)) !== null;
  }

  async isFirst(once: IdempotencyRecord): Promise<boolean> {
    if ('scope' in once) return (await this.redis.hexists(idempotencyKey(once.scope), 'fingerprint')) === 0;
    const [state, result] = await this.redis.hmget(runKey(once.runId), 'state', String(once.position));
    return state === 'running' && result === null;
  }

  /** The commit is stale when another one stores the same meanwhile. */
  storeIdempotency(once: IdempotencyRecord, text?: string): void {
    if (!('scope' in once)) {
      this.settleRunItem(once, { outcome: 'done', code: null, message: null });
      return;
    }
    const key = idempotencyKey(once.scope);
    this.check({ key, field: 'fingerprint', value: '' });
    const answer = text === undefined ? {} : packFields({ answer: text });
    const fields = Object.entries({ fingerprint: once.fingerprint, ...answer }).flat();
    this.effect(['HSET', key, ...fields], ['EXPIRE', key, DAY_MS / 1000]);
  }

  /** Stores the result of an item. The commit is stale when it has got one meanwhile, or its run has ended. */
  settleRunItem({ runId, position }: RunItemPlace, result: RunResult): void {
    const key = runKey(runId);
    this.check({ key, field: 'state', value: 'running' });
    this.check({ key, field: String(position), value: '' });
    this.effect(['HSET', key, position, wellFormedJson(result)], ['HINCRBY', key, result.outcome, 1]);
  }

  audit(entry: AuditEntry | null): void {
    if (!entry) return;
    const { by, why, ...rest } = entry;
    const texts = { salt: this.newId(), by, why };
    this.effect(['AUDIT', KEYS.audit, wellFormedJson(rest), wellFormedJson(texts)]);
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

  /** Adds a change that follows from no record of this transaction. */
  addChange(change: NewChange): void {
    this.#changed.push(change);
  }

  /** Gives a record a new version even if it does not change: another commit that was decided on the old one is stale. */
  writeVersion(record: OutboxRecord): void {
    this.#outboxes.writeVersion(record);
  }

  /** Sets when a record is due, even if it does not change. Without `atMs`, as its rules require. */
  schedule(record: OutboxRecord, atMs?: number | null): void {
    this.#outboxes.schedule(record, atMs);
  }

  /** The commit of all changes; null without any. `wakes`: what it makes due gets a job with it. */
  commit({ wakes = false } = {}): Commit | null {
    const outboxes = this.#outboxes.changes();
    this.effect(...outboxes.effects);
    this.#changed.push(...outboxes.changed);
    const circuits = this.#circuitsChange();
    const deliveries = this.#deliveries.changes(this.newId);
    this.#changed.push(...deliveries.changed);
    const dues = this.circuitEffects.due.map((member) => dueOfMember(member, this.nowMs));
    const effects = [...this.#effects, ...deliveries.effects, ...this.#outboxes.dueEffects(), ...dues];
    const all = [...outboxes.records, ...circuits, ...this.#others, ...deliveries.records];
    if (effects.length === 0 && !all.some(({ version, isGone }) => version !== undefined || isGone)) return null;
    effects.push(...this.#changed.map(changeEffect));
    return { records: all, checks: this.#checks, ...(wakes ? putOffDue(effects, this.nowMs) : { effects }) };
  }

  /** The violation of a name. The commit is stale when the name gets another owner meanwhile. */
  async #violationOf(key: string, field: string): Promise<StoredViolation | null> {
    const owner = await this.redis.hget(key, field);
    this.check({ key, field, value: owner ?? '' });
    return owner === null ? null : this.violation(owner);
  }

  /** After the commit: keeps what later transactions of this process need. */
  keepWritten(): void {
    this.#outboxes.keepWritten();
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
    this.#outboxes.forget();
    this.#circuits.forget();
  }

  #circuitsChange(): RecordChange[] {
    const change = this.#circuits.changes(this.newId);
    if (!change) return [];
    this.effect(...change.effects);
    this.#changed.push(...change.changed);
    return change.records;
  }
}
