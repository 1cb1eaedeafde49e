import type { Redis } from 'ioredis';
import { numbered, type NewChange } from '../../domain/ops/changes';
import {
  draftOf,
  nextVersion,
  recordIdOf,
  type OutboxRecord,
  type RecordName,
} from '../../domain/outbox/outbox-record';
import { dueAtMs } from '../../domain/outbox/outbox-schedule';
import { changesOf } from '../../domain/outbox/record-changes';
import type { Effect, RecordChange } from '../redis/commit';
import { indexEffects } from './indexes';
import type { Fields } from '../redis/packed-fields';
import { fieldsOrDamaged, orDamaged } from './readable-records';
import { complete, dueOf, endedLeaseMs, latestForLease, permitQueueEffects } from './record-effects';
import { decodeRecord, keyOf, partsOf, RECORD_KEYS } from './record-kinds';
import { changeOfFields, fieldsAfter, type RecordPart } from './record-parts';

/** More records than a process works on at a time. */
const LEASED_MAX = 1000;

interface LoadedRecord {
  readonly before: OutboxRecord | null;
  readonly fields: Fields;
  /** The parts of `before`, if this process has kept them. */
  readonly parts: readonly RecordPart[] | null;
  after: OutboxRecord | null;
}

/** A record as this process has last written it. Never changed: transactions may share it. */
interface WrittenRecord {
  readonly record: OutboxRecord;
  readonly fields: Fields;
  readonly parts: readonly RecordPart[];
}

/** A record that this process has leased. */
export interface LeasedRecord {
  readonly token: string;
  /** Null after a stale commit, until the next one that is written. */
  readonly written: WrittenRecord | null;
}

interface OutboxDraftTools {
  readonly newId: () => string;
  /** Redis time at the start of the decision, Unix ms. */
  readonly nowMs: number;
  /** The records that this process has leased, by key. */
  readonly leased: Map<string, LeasedRecord>;
  /** Whether the kept state of a leased record is used instead of a read. */
  readonly usesKept: boolean;
}

/** The tows and violations that one transaction changes. Indexes, schedules and changed changes follow from the
 * difference. */
export class OutboxDrafts {
  readonly #loaded = new Map<string, LoadedRecord>();
  readonly #written = new Map<string, WrittenRecord>();
  readonly #dues = new Map<string, number | null>();
  readonly #rewritten = new Set<string>();

  constructor(
    private readonly redis: Redis,
    private readonly tools: OutboxDraftTools,
  ) {}

  /** A draft; null when there is no such record. @throws UnusableRecord, DamagedRecord */
  async load(name: RecordName): Promise<OutboxRecord | null> {
    const key = RECORD_KEYS[name.kind].record(name.id);
    const known = this.#loaded.get(key);
    if (known) return known.after;
    const kept = this.tools.usesKept ? this.tools.leased.get(key)?.written : null;
    const fields = kept?.fields ?? (await fieldsOrDamaged(this.redis, key, name));
    // Reads of one record at the same time share one draft, so that no change to it is lost.
    const meanwhile = this.#loaded.get(key);
    if (meanwhile) return meanwhile.after;
    const before: OutboxRecord | null = kept?.record ?? orDamaged(name, () => decodeRecord(name.kind, name.id, fields));
    const after = before && draftOf(before);
    this.#loaded.set(key, { before, fields, parts: kept?.parts ?? null, after });
    return after;
  }

  /** A record that is new. */
  add(record: OutboxRecord): void {
    this.#loaded.set(keyOf(record), { before: null, fields: {}, parts: [], after: record });
  }

  /** Removes a record that was loaded before. */
  remove(record: OutboxRecord): void {
    const loaded = this.#loaded.get(keyOf(record));
    if (loaded) loaded.after = null;
  }

  writeVersion(record: OutboxRecord): void {
    this.#rewritten.add(keyOf(record));
  }

  schedule(record: OutboxRecord, atMs?: number | null): void {
    this.#dues.set(keyOf(record), atMs === undefined ? dueAtMs(record, this.tools.nowMs) : atMs);
  }

  /** What the commit changes and checks. */
  changes(): { records: RecordChange[]; effects: Effect[]; changed: NewChange[] } {
    const [records, effects, changed]: [RecordChange[], Effect[], NewChange[]] = [[], [], []];
    for (const [key, loaded] of this.#loaded) records.push(this.#changeOf(key, loaded, { effects, changed }));
    return { records, effects, changed };
  }

  /** When the changed records are due; after `changes`. */
  dueEffects(): Effect[] {
    return [...this.#dues].flatMap(([key, atMs]) => {
      const record = this.#loaded.get(key)?.after;
      return record ? dueOf(record, atMs) : [];
    });
  }

  #changeOf(
    key: string,
    loaded: LoadedRecord,
    { effects, changed }: { readonly effects: Effect[]; readonly changed: NewChange[] },
  ): RecordChange {
    const { before, fields, after } = loaded;
    const { nowMs, newId } = this.tools;
    const read = { key, expected: fields['v'] ?? '', notBeforeMs: endedLeaseMs(before, nowMs) };
    if (!after) {
      if (!before) return read;
      effects.push(...indexEffects(before, null), ...dueOf(before, null));
      return { isGone: true, ...read };
    }
    complete(before, after, nowMs);
    const changes = countedChanges(before, after);
    const parts = partsOf(after);
    const was = loaded.parts ?? (before ? partsOf(before) : []);
    const change = changeOfFields(was, parts, { stored: fields, packs: after.overSinceMs !== null });
    const newVersion = () => nextVersion(read.expected, newId());
    if (!change) return this.#rewritten.has(key) ? { version: newVersion(), ...read } : read;
    const { set, remove } = change;
    effects.push(...indexEffects(before, after), ...permitQueueEffects(before, after, nowMs));
    if (parts.length === 0) {
      changed.push(...changes);
      return { isGone: true, ...read };
    }
    const isDueSame = before !== null && dueAtMs(before, nowMs) === dueAtMs(after, nowMs);
    if (!isDueSame && !this.#dues.has(key)) this.schedule(after);
    changed.push(...changes);
    const version = newVersion();
    this.#written.set(key, { record: { ...after, version }, fields: fieldsAfter(fields, change, version), parts });
    return { version, set, remove, notAfterMs: latestForLease(before, after, nowMs), ...read };
  }

  /** After the commit: keeps the written records that this process has leased, by this commit or before it. */
  keepWritten(): void {
    const { leased } = this.tools;
    if (leased.size > LEASED_MAX) leased.clear();
    for (const [key, written] of this.#written) {
      const token = written.record.lease?.token;
      const isGranted = token !== this.#loaded.get(key)?.before?.lease?.token;
      const isOurs = isGranted || token === leased.get(key)?.token;
      // Facts are also recorded while another process has the lease.
      if (token !== undefined && isOurs) leased.set(key, { token, written });
      else leased.delete(key);
    }
  }

  /** After a stale commit: drops the kept state, which is outdated. */
  forget(): void {
    const { leased } = this.tools;
    for (const key of this.#loaded.keys()) {
      const token = leased.get(key)?.token;
      if (token !== undefined) leased.set(key, { token, written: null });
    }
  }
}

/** The changes between two states, numbered and counted in the second one. A tow that is not known has no numbers. */
function countedChanges(before: OutboxRecord | null, after: OutboxRecord): NewChange[] {
  const isNumbered = after.kind === 'violation' || after.tow !== null;
  const subject = { kind: after.kind, id: recordIdOf(after) };
  const changed = numbered(changesOf(before, after), subject, isNumbered ? after.changeCount : null);
  if (isNumbered) after.changeCount += changed.length;
  return changed;
}
