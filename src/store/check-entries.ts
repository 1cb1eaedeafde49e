import type { Redis } from 'ioredis';
import { checkTow, checkViolation, headTaskId, type CheckedItem, type IndexEntries } from '../domain/conservation';
import type { OutboxRecord } from '../domain/outbox-record';
import { momentOf, repliesOf } from './chained';
import { checkDeliveries } from './check-deliveries';
import { KEYS, towKey, violationKey } from './keys';
import type { LedgerEntry } from './ledger';
import { textFieldsOf } from './parse';
import { hashOf, readTogether } from './read-together';
import { repairRecord } from './repair';
import { decodeTow } from './tow-fields';
import type { Fields } from './packed-fields';
import { decodeViolation } from './violation-fields';

/**
 * Checks entries of the ledger. A first look reads many records at once; only what seems lost, or waits for a person, is
 * read again at one instant together with its index entries, so that a change between two reads is never taken for a loss.
 */

/** So many records are read at once; Redis serves others in between. */
const SLICE = 50;

/** The items of these entries, in their order, repaired where that is possible; one that left the ledger has none. */
export async function checkEntries(
  redis: Redis,
  entries: readonly LedgerEntry[],
  nowMs: number,
): Promise<CheckedItem[]> {
  const items: CheckedItem[] = [];
  const namesOf = (index: LedgerEntry['index']) =>
    entries.filter((entry) => entry.index === index).map(({ member }) => member);
  for (const ids of slices(namesOf('deliveries'))) items.push(...(await checkDeliveries(redis, ids, nowMs)));
  for (const refs of slices(namesOf('tows'))) items.push(...(await checkRecords(redis, TOWS, refs, nowMs)));
  for (const ids of slices(namesOf('violations'))) items.push(...(await checkRecords(redis, VIOLATIONS, ids, nowMs)));
  return items;
}

function slices(names: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(names.length / SLICE) }, (_, at) => names.slice(at * SLICE, (at + 1) * SLICE));
}

/** Where the records of one kind are, and how they are checked. */
interface Kind {
  readonly index: string;
  readonly schedule: string;
  keyOf(name: string): string;
  /** Null when there is none; throws when it cannot be read. */
  decode(name: string, fields: Fields): OutboxRecord | null;
  /** What is lost when a record is gone or cannot be read. */
  lostNames(name: string, fields: Fields): string[];
}

const TOWS: Kind = {
  index: KEYS.indexTows,
  schedule: KEYS.dueTows,
  keyOf: towKey,
  decode: decodeTow,
  lostNames(ref, fields) {
    const places = Object.keys(fields).filter((name) => /^r\d+$/.test(name));
    if (places.length === 0) return [`tow ${ref}`];
    const seqs = places.map((name) => Number(name.slice(1))).toSorted((a, b) => a - b);
    return seqs.map((seq) => `report ${ref} ${seq}`);
  },
};

const VIOLATIONS: Kind = {
  index: KEYS.indexViolations,
  schedule: KEYS.dueViolations,
  keyOf: violationKey,
  decode: (_id, fields) => decodeViolation(fields),
  lostNames: (id) => [`violation ${id}`],
};

async function checkRecords(redis: Redis, kind: Kind, names: readonly string[], nowMs: number): Promise<CheckedItem[]> {
  const reading = redis.pipeline();
  for (const name of names) reading.hgetall(kind.keyOf(name));
  const [hashes, scheduled] = await Promise.all([repliesOf(reading), redis.zmscore(kind.schedule, ...names)]);
  const items = await Promise.all(
    names.map(async (name, at) => {
      const fields = textFieldsOf(hashes[at]);
      const indexed = { nowMs, scheduledAtMs: momentOf(scheduled[at]), isTaskListed: () => false };
      const first = checkFields(kind, name, fields, indexed);
      const isSure = first.items.every(({ state }) => state !== 'lost');
      return isSure ? first.items : confirm(redis, kind, { name, nowMs, taskId: first.taskId });
    }),
  );
  return items.flat();
}

interface Checked {
  readonly record: OutboxRecord | null;
  readonly items: readonly CheckedItem[];
  /** The task that its head waits for. */
  readonly taskId: string | null;
}

function checkFields(kind: Kind, name: string, fields: Fields, indexed: IndexEntries): Checked {
  try {
    const record = kind.decode(name, fields);
    if (record) {
      const items = record.kind === 'tow' ? checkTow(record, indexed) : [checkViolation(record, indexed)];
      return { record, items, taskId: headTaskId(record) };
    }
  } catch {
    // One record that cannot be read must not end the scan: no worker can read it either, so it is lost.
  }
  const items = kind
    .lostNames(name, fields)
    .map((lost) => ({ name: lost, state: 'lost', isRepairable: false }) as const);
  return { record: null, items, taskId: null };
}

/** How often the head of a record may get another task while it is being read again. */
const TASK_CHANGES_MAX = 3;

/** Reads a record and its index entries at one instant, decides, and repairs what can be repaired. */
async function confirm(
  redis: Redis,
  kind: Kind,
  { name, nowMs, taskId }: { name: string; nowMs: number; taskId: string | null },
): Promise<readonly CheckedItem[]> {
  let asked = taskId;
  for (let tries = 1; ; tries += 1) {
    const [place, fields, scheduled, json, opened] = await readTogether(redis, [
      ['ZSCORE', kind.index, name],
      ['HGETALL', kind.keyOf(name)],
      ['ZSCORE', kind.schedule, name],
      ['HGET', KEYS.tasks, asked ?? ''],
      ['ZSCORE', KEYS.openTasks, asked ?? ''],
    ]);
    // Archived meanwhile.
    if (typeof place !== 'string') return [];
    const listed = typeof json === 'string' && typeof opened === 'string' ? asked : null;
    const isTaskListed = (id: string) => id === listed;
    const indexed = { nowMs, scheduledAtMs: momentOf(scheduled), isTaskListed };
    const checked = checkFields(kind, name, hashOf(fields), indexed);
    if (checked.taskId !== asked && checked.taskId !== null && tries < TASK_CHANGES_MAX) {
      asked = checked.taskId;
      continue;
    }
    if (checked.record && checked.items.some(({ isRepairable }) => isRepairable))
      await repairRecord(redis, checked.record);
    return checked.items;
  }
}
