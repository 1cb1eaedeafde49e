import type { Redis } from 'ioredis';
import { decodeCircuits, encodeCircuits } from '../contracts/stored-circuits';
import type { AuditEntry } from '../domain/audit';
import {
  draftOfCircuits,
  NO_CIRCUITS,
  noEffects,
  type CircuitEffects,
  type CircuitName,
  type Circuits,
} from '../domain/circuits';
import type { WaitingAtCircuit } from '../domain/claim-entry';
import type { Delivery } from '../domain/delivery';
import {
  draftOf,
  versionNumber,
  type OutboxRecord,
  type StoredTow,
  type StoredViolation,
} from '../domain/outbox-record';
import { dueAtMs } from '../domain/outbox-schedule';
import { metadataIdOf, type Violation } from '../domain/violation';
import type { Remember, Transaction as TransactionPort } from '../workflow/transaction-port';
import { changeOfCircuits, waitingAt } from './circuits';
import type { Check, Commit, Effect, RecordChange } from './commit';
import { DeliveryDrafts } from './delivery-drafts';
import { indexEffects } from './indexes';
import { idempotencyKey, KEYS, towKey, violationKey } from './keys';
import type { Fields } from './packed-fields';
import {
  complete,
  dueOf,
  dueOfMember,
  endedLeaseMs,
  eventEffect,
  eventsOf,
  fieldsChange,
  isStored,
  keyOf,
  lineEffects,
  type StoreChange,
} from './record-effects';
import { closingOf } from './task-changes';
import { decodeTow } from './tow-fields';
import { decodeViolation, newStoredViolation } from './violation-fields';
import { wellFormedJson } from './well-formed';

/**
 * Reads records, lets a decision change drafts of them, and commits what changed, if the versions are the same; otherwise reads and
 * decides again. Indexes, schedules, tasks and events follow from the difference.
 */

/** How long another process may open a circuit unnoticed. */
const CIRCUITS_KNOWN_MS = 250;
/** More than any process works on at a time. */
const LEASED_MAX = 1000;
const IDEMPOTENCY_SECONDS = 86_400;

interface Loaded<R> {
  readonly before: R | null;
  readonly fields: Fields;
  after: R | null;
}

/** A record as this process has written it last. */
interface Kept {
  readonly record: OutboxRecord;
  readonly fields: Fields;
}

/** What a process knows without reading. A commit on outdated knowledge is refused, and decided again on what is read. */
export interface Memory {
  readonly leased: Map<string, Kept>;
  /** While nothing is wrong with the service there is nothing to read about it. */
  circuits: { readonly known: Circuits; readonly untilMs: number } | null;
}

/** What one decision reads and changes. */
export class Transaction implements TransactionPort {
  readonly #records = new Map<string, Loaded<OutboxRecord>>();
  #hasChangedCircuits = false;
  readonly #written = new Map<string, Kept>();
  readonly #dues = new Map<string, number | null>();
  readonly #effects: Effect[] = [];
  readonly #checks: Check[] = [];
  readonly #events: StoreChange[] = [];
  readonly #others: RecordChange[] = [];
  readonly circuitEffects: CircuitEffects = noEffects();
  #circuits: { before: Circuits; after: Circuits } | null = null;
  readonly #deliveries: DeliveryDrafts;

  constructor(
    private readonly redis: Redis,
    private readonly newTag: () => string,
    /** Redis time when the decision began, ms. */
    readonly nowMs: number,
    private readonly memory: Memory,
    /** Whether what this process knows of a record it has leased is good enough to decide on. */
    private readonly usesKept: boolean,
  ) {
    this.#deliveries = new DeliveryDrafts(redis);
  }

  /** A draft of a tow; with `tow: null` when there is none. */
  async tow(ref: string): Promise<StoredTow> {
    const loaded = await this.#load(towKey(ref), (fields) => decodeTow(ref, fields));
    if (loaded.after?.kind !== 'tow') throw new Error('not a tow');
    return loaded.after;
  }

  /** A draft of a violation; null when there is none. */
  async violation(id: string): Promise<StoredViolation | null> {
    const loaded = await this.#load(violationKey(id), decodeViolation);
    return loaded.after?.kind === 'violation' ? loaded.after : null;
  }

  /** Stores a violation for the first time. */
  createViolation(violation: Violation): StoredViolation {
    const { id } = violation;
    const record = newStoredViolation(violation, this.nowMs);
    this.#records.set(violationKey(id), { before: null, fields: {}, after: record });
    this.effect(['HSET', KEYS.violationAliases, metadataIdOf(violation), id, id, id]);
    return record;
  }

  /** Takes a record away, with everything it is found by. */
  remove(record: OutboxRecord): void {
    const loaded = this.#records.get(keyOf(record));
    if (loaded) loaded.after = null;
  }

  /** A draft of the circuits. While none is open this process may learn a moment late that one has opened, unless `isFresh`. */
  async circuits({ isFresh = false } = {}): Promise<Circuits> {
    if (!this.#circuits) {
      const { circuits } = this.memory;
      if (!isFresh && circuits && circuits.untilMs > this.nowMs) {
        this.#circuits = { before: circuits.known, after: draftOfCircuits(circuits.known) };
        return this.#circuits.after;
      }
      const [version = null, json = null] = await this.redis.hmget(KEYS.circuits, 'v', 'circuits');
      const before = decodeCircuits(version, json);
      this.#circuits = { before, after: draftOfCircuits(before) };
      const isQuiet = encodeCircuits(before) === encodeCircuits(NO_CIRCUITS);
      this.memory.circuits = isQuiet ? { known: before, untilMs: this.nowMs + CIRCUITS_KNOWN_MS } : null;
    }
    return this.#circuits.after;
  }

  /** What waits for the open circuits. */
  async waiting(): Promise<Partial<Record<CircuitName, WaitingAtCircuit>>> {
    return waitingAt(this.redis, await this.circuits());
  }

  /** A draft of a violation by our id or by the id in its metadata. */
  violationCalled(name: string): Promise<StoredViolation | null> {
    return this.#violationOf(KEYS.violationAliases, name, 'alias');
  }

  /** A draft of the violation that has a name of the service. */
  violationNamed(reference: string): Promise<StoredViolation | null> {
    return this.#violationOf(KEYS.violationReferences, reference, 'reference');
  }

  nameViolation(reference: string, id: string): void {
    this.effect(['HSET', KEYS.violationReferences, reference, id]);
  }

  /** A draft of a webhook delivery; null when there is none. */
  delivery(id: string, known: Delivery | null = null): Promise<Delivery | null> {
    return this.#deliveries.load(id, known);
  }

  scheduleDelivery(id: string, atMs: number | null): void {
    this.#deliveries.schedule(id, atMs);
  }

  /** Takes a delivery away that was read before. */
  removeDelivery(id: string): void {
    this.#deliveries.remove(id);
  }

  async scheduledDeliveries(ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const scores = await this.redis.zmscore(KEYS.dueDeliveries, ...ids);
    return new Set(ids.filter((_, at) => scores[at] !== null));
  }

  /** Closes a task of the whole operator; false when it is not open. */
  async closeGeneralTask(id: string): Promise<boolean> {
    const closing = await closingOf(this.redis, id, this.nowMs);
    if (!closing) return false;
    for (const check of closing.checks) this.check(check);
    this.effect(...closing.effects);
    return true;
  }

  async isArchived(ref: string): Promise<boolean> {
    return (await this.redis.zscore(KEYS.tombstones, ref)) !== null;
  }

  /** What is remembered under an Idempotency-Key; null when nothing is. */
  fingerprintOf(scope: string): Promise<string | null> {
    return this.redis.hget(idempotencyKey(scope), 'fingerprint');
  }

  /** Remembers the effect of a request under its key; when one is remembered meanwhile, the check `remembered` fails. */
  remember(remember: (Remember & { readonly answer?: string }) | undefined): void {
    if (!remember) return;
    const key = idempotencyKey(remember.scope);
    this.check({ key, field: 'fingerprint', value: '', name: 'remembered' });
    const answer = remember.answer === undefined ? [] : ['answer', remember.answer];
    this.effect(['HSET', key, 'fingerprint', remember.fingerprint, ...answer], ['EXPIRE', key, IDEMPOTENCY_SECONDS]);
  }

  /** Adds the act of a person to the audit. */
  audit(entry: AuditEntry | null): void {
    if (entry) this.effect(['AUDIT', KEYS.audit, wellFormedJson(entry)]);
  }

  effect(...effects: readonly Effect[]): void {
    this.#effects.push(...effects);
  }

  check(check: Check): void {
    this.#checks.push(check);
  }

  /** A record of another kind that takes part, by its own version. */
  change(change: RecordChange): void {
    this.#others.push(change);
  }

  publish(type: string, about: { towingReferenceId?: string | null; violationId?: string } = {}): void {
    this.#events.push({ type, ...about });
  }

  /** Sets when a record is due, whether it changed or not; without a moment as its rules say. */
  schedule(record: OutboxRecord, atMs?: number | null): void {
    this.#dues.set(keyOf(record), atMs === undefined ? dueAtMs(record, this.nowMs) : atMs);
  }

  /** The commit of everything; null when nothing changed. */
  commit(): Commit | null {
    const records = [...this.#records].flatMap(([key, loaded]) => this.#changeOf(key, loaded));
    const circuits = this.#circuitsChange();
    const deliveries = this.#deliveries.changes(this.newTag);
    this.#events.push(...deliveries.events);
    const effects = [...this.#effects, ...deliveries.effects, ...this.#dueEffects()];
    const all = [...records, ...circuits, ...this.#others, ...deliveries.records];
    if (effects.length === 0 && !all.some(({ version, isGone }) => version !== undefined || isGone)) return null;
    effects.push(...this.#events.map((event) => eventEffect(event, this.nowMs)));
    return { records: all, checks: this.#checks, effects };
  }

  /** The violation of a name. Should the name become that of another one meanwhile, the check fails. */
  async #violationOf(key: string, field: string, check: string): Promise<StoredViolation | null> {
    const owner = await this.redis.hget(key, field);
    this.check({ key, field, value: owner ?? '', name: check });
    return owner === null ? null : this.violation(owner);
  }

  async #load(key: string, decode: (fields: Fields) => OutboxRecord | null): Promise<Loaded<OutboxRecord>> {
    const known = this.#records.get(key);
    if (known) return known;
    const kept = this.usesKept ? this.memory.leased.get(key) : undefined;
    const fields = kept?.fields ?? (await this.redis.hgetall(key));
    const before: OutboxRecord | null = kept?.record ?? decode(fields);
    const loaded: Loaded<OutboxRecord> = { before, fields, after: before && draftOf(before) };
    this.#records.set(key, loaded);
    return loaded;
  }

  #changeOf(key: string, { before, fields, after }: Loaded<OutboxRecord>): RecordChange[] {
    const read = { key, expected: fields['v'] ?? '', notBeforeMs: endedLeaseMs(before, this.nowMs) };
    if (!after) {
      if (!before) return [read];
      this.effect(...indexEffects(before, null), ...dueOf(before, null));
      return [{ ...read, isGone: true }];
    }
    complete(before, after, this.nowMs);
    const change = fieldsChange(before, after, fields);
    if (!change) return [read];
    const { set, remove } = change;
    this.effect(...indexEffects(before, after), ...lineEffects(before, after));
    if (!isStored(after)) return [{ ...read, isGone: true }];
    const isDueSame = before !== null && dueAtMs(before, this.nowMs) === dueAtMs(after, this.nowMs);
    if (!isDueSame && !this.#dues.has(key)) this.schedule(after);
    this.#events.push(...eventsOf(before, after));
    const version = `${versionNumber(read.expected) + 1}.${this.newTag()}`;
    const left: Record<string, string> = { ...fields, ...set, v: version };
    for (const name of remove) delete left[name];
    this.#written.set(key, { record: { ...after, version }, fields: left });
    return [{ ...read, version, set, remove }];
  }

  /** Once the commit is written: remembers the records that this process has leased. */
  remembered(): void {
    const { leased } = this.memory;
    if (leased.size > LEASED_MAX) leased.clear();
    for (const [key, written] of this.#written) {
      if (written.record.lease) leased.set(key, written);
      else leased.delete(key);
    }
    if (this.#hasChangedCircuits) this.memory.circuits = null;
  }

  get changesCircuits(): boolean {
    return this.#hasChangedCircuits;
  }

  /** When the commit was refused: what was remembered is outdated. */
  forget(): void {
    for (const key of this.#records.keys()) this.memory.leased.delete(key);
    this.memory.circuits = null;
  }

  #circuitsChange(): RecordChange[] {
    if (!this.#circuits) return [];
    const { before, after } = this.#circuits;
    const change = changeOfCircuits(before, after, { closed: this.circuitEffects.closed, tag: this.newTag() });
    this.#hasChangedCircuits = change.hasChanged;
    this.effect(...change.effects);
    this.#events.push(...change.events);
    return change.records;
  }

  #dueEffects(): Effect[] {
    const dues = [...this.#dues].flatMap(([key, atMs]) => {
      const record = this.#records.get(key)?.after;
      return record ? dueOf(record, atMs) : [];
    });
    const woken = this.circuitEffects.due.map((member) => dueOfMember(member, this.nowMs));
    return [...dues, ...woken];
  }
}
