import type { Redis } from 'ioredis';
import {
  checkTow,
  checkViolation,
  ITEM_NAMES,
  unusableItem,
  type CheckedItem,
  type IndexEntries,
} from '../../domain/ops/conservation';
import { headTaskId } from '../../domain/outbox/outbox-schedule';
import { UnusableRecord } from '../../domain/outbox/unusable-record';
import type { OutboxRecord, RecordKind } from '../../domain/outbox/outbox-record';
import { timestampOf, hashFieldsOf, readHashes, readTogether } from '../redis/batch-reads';
import { checkDeliveries } from './check-deliveries';
import { KEYS } from '../keys';
import type { LedgerEntry } from './ledger';
import { decodeRecord, RECORD_KEYS } from '../outbox/record-kinds';
import { repairRecord } from './repair';
import type { Fields } from '../redis/packed-fields';

/**
 * Checks entries of the ledger. The first check reads many records at once. A record that seems lost is read again at
 * one instant with its index entries, so that a change between two reads is never reported as a loss.
 */

/** Records per read, so that Redis and this process can do other work in between. */
const SLICE = 20;

/** Checks entries and repairs what can be repaired. An entry that has left the ledger has no item. */
export async function checkEntries(
  redis: Redis,
  entries: readonly LedgerEntry[],
  nowMs: number,
): Promise<CheckedItem[]> {
  const items: CheckedItem[] = [];
  const namesOf = (index: LedgerEntry['index']) =>
    entries.filter((entry) => entry.index === index).map(({ member }) => member);
  for (const ids of slices(namesOf('deliveries'))) items.push(...(await checkDeliveries(redis, ids, nowMs)));
  for (const refs of slices(namesOf('tows'))) items.push(...(await checkRecords(redis, 'tow', refs, nowMs)));
  for (const ids of slices(namesOf('violations'))) items.push(...(await checkRecords(redis, 'violation', ids, nowMs)));
  return items;
}

function slices(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / SLICE) }, (_, at) => names.slice(at * SLICE, (at + 1) * SLICE));
}

/** The names of the items of a record that is missing or cannot be decoded. */
function itemNames(kind: RecordKind, id: string, fields: Fields): string[] {
  if (kind === 'violation') return [ITEM_NAMES.violation(id)];
  const places = Object.keys(fields).filter((name) => /^r\d+$/.test(name));
  if (places.length === 0) return [ITEM_NAMES.tow(id)];
  const seqs = places.map((name) => Number(name.slice(1))).toSorted((a, b) => a - b);
  return seqs.map((seq) => ITEM_NAMES.report(id, seq));
}

async function checkRecords(
  redis: Redis,
  kind: RecordKind,
  names: readonly string[],
  nowMs: number,
): Promise<CheckedItem[]> {
  const { record: keyOf, due } = RECORD_KEYS[kind];
  const [hashes, scheduled] = await Promise.all([readHashes(redis, names.map(keyOf)), redis.zmscore(due, ...names)]);
  const items = await Promise.all(
    names.map(async (name, at) => {
      const fields = hashes[at] ?? {};
      const indexed = { nowMs, scheduledAtMs: timestampOf(scheduled[at]), isTaskListed: () => false };
      const first = checkFields(kind, name, fields, indexed);
      const isSure = first.items.every(({ state }) => state !== 'lost');
      return isSure ? first.items : confirm(redis, kind, { name, nowMs, taskId: first.taskId });
    }),
  );
  return items.flat();
}

interface CheckedRecord {
  readonly record: OutboxRecord | null;
  readonly items: readonly CheckedItem[];
  /** The task that its first unsettled entry waits for. */
  readonly taskId: string | null;
}

function checkFields(kind: RecordKind, name: string, fields: Fields, indexed: IndexEntries): CheckedRecord {
  try {
    const record = decodeRecord(kind, name, fields);
    if (record) {
      const items = record.kind === 'tow' ? checkTow(record, indexed) : [checkViolation(record, indexed)];
      return { record, items, taskId: headTaskId(record) };
    }
  } catch (error) {
    if (error instanceof UnusableRecord) {
      return { record: null, items: itemNames(kind, name, fields).map(unusableItem), taskId: null };
    }
    // A record that cannot be decoded is lost, as no worker can decode it either. It must not end the scan.
  }
  const items = itemNames(kind, name, fields).map(
    (lost) => ({ name: lost, state: 'lost', isRepairable: false }) as const,
  );
  return { record: null, items, taskId: null };
}

/** How often the task of a record may change while the record is read again. */
const TASK_CHANGES_MAX = 3;

/** Reads a record and its index entries at one instant, checks again, and repairs what can be repaired. */
async function confirm(
  redis: Redis,
  kind: RecordKind,
  { name, nowMs, taskId }: { name: string; nowMs: number; taskId: string | null },
): Promise<readonly CheckedItem[]> {
  const keys = RECORD_KEYS[kind];
  let asked = taskId;
  for (let tries = 1; ; tries += 1) {
    const [place, fields, scheduled, json, opened] = await readTogether(redis, [
      ['ZSCORE', keys.index, name],
      ['HGETALL', keys.record(name)],
      ['ZSCORE', keys.due, name],
      ['HGET', KEYS.tasks, asked ?? ''],
      ['ZSCORE', KEYS.openTasks, asked ?? ''],
    ]);
    // It was archived meanwhile.
    if (typeof place !== 'string') return [];
    const listed = typeof json === 'string' && typeof opened === 'string' ? asked : null;
    const isTaskListed = (id: string) => id === listed;
    const indexed = { nowMs, scheduledAtMs: timestampOf(scheduled), isTaskListed };
    const checked = checkFields(kind, name, hashFieldsOf(fields), indexed);
    if (checked.taskId !== asked && checked.taskId !== null && tries < TASK_CHANGES_MAX) {
      asked = checked.taskId;
      continue;
    }
    if (checked.record && checked.items.some(({ isRepairable }) => isRepairable))
      await repairRecord(redis, checked.record);
    return checked.items;
  }
}
