import type { Redis } from 'ioredis';
import type { TowRecord } from '../contracts/records';
import { noteEvent, openTask, versionNumber, type StoredTow } from '../domain/outbox-record';
import { waiveEntry } from '../domain/settle-entry';
import { entryNamed, oweReport } from '../domain/stored-tow';
import { invoicesSetAsideTask } from '../domain/tasks';
import type { TowChange, TowStore } from '../workflow/ports';
import { crewsKey, KEYS, towKey, violationKey } from './keys';
import { countTows, listTows } from './list-tows';
import { recordsOf } from './records';
import { settleDelivery } from './settle-delivery';
import { decodeTow } from './tow-fields';
import { towRecordOf } from '../workflow/tow-record';
import { byBytes } from './rows';

/** So many different invoices wait for one unknown tow, at most. */
const PARKED_MAX = 100;

/** The tows in Redis: decisions on records, each committed if its version is the same. */
export function createTowStore(redis: Redis): TowStore {
  const records = recordsOf(redis);
  const read = async (ref: string): Promise<TowRecord | null> => {
    const [fields, nowMs] = await Promise.all([redis.hgetall(towKey(ref)), records.nowMs()]);
    return towRecordOf(decodeTow(ref, fields), nowMs);
  };
  const listByRefs = async (refs: readonly string[]): Promise<TowRecord[]> => {
    const found = await Promise.all(refs.map(read));
    return found.filter((record) => record !== null);
  };
  return {
    read,
    listByRefs,
    list: (filter) => listTows(redis, filter, listByRefs),
    counts: (overdueAfter) => countTows(redis, overdueAfter),
    crews: async () => (await redis.zrangebyscore(crewsKey, 1, '+inf')).toSorted(byBytes),

    async create(tow, from) {
      const ref = tow.towingReferenceId;
      const reply = await records.transact(`tow ${ref}`, async (transaction) => {
        const record = await transaction.tow(ref);
        if (record.tow) return { kind: 'exists', unparked: [] } as const;
        const { nowMs } = transaction;
        if ((await redis.zscore(KEYS.tombstones, ref)) !== null) {
          if (!(await settleDelivery(transaction, record, from.deliveryId, 'late'))) {
            return { kind: 'settled_before', unparked: [] } as const;
          }
          openTask(record, from.lateTask, nowMs);
          return { kind: 'late', unparked: [] } as const;
        }
        if (tow.violationId === null) {
          const name = tow.violationReferenceId;
          const owner = await redis.hget(KEYS.violationReferences, name);
          if (owner !== null && (await redis.exists(violationKey(owner))) === 1) {
            return { kind: 'found', unparked: [] } as const;
          }
          // Either the violation finds the tow when it gets its name, or the tow finds the violation.
          transaction.check({ key: KEYS.violationReferences, field: name, value: owner ?? '', name: 'reference' });
        }
        const delivery = await transaction.delivery(from.deliveryId);
        record.tow = tow;
        record.requestedAtMs = delivery?.receivedAtMs ?? nowMs;
        noteEvent(record, from.timeline, nowMs);
        for (const task of from.openTasks ?? []) openTask(record, task, nowMs);
        const unparked = record.parked.map(({ id }) => id);
        record.parked = [];
        transaction.effect(...unparked.map((id) => ['ZADD', KEYS.dueDeliveries, nowMs, id] as const));
        const hasSettled = await settleDelivery(transaction, record, from.deliveryId, 'created');
        return { kind: hasSettled ? 'created' : 'settled_before', unparked } as const;
      });
      return reply.kind === 'failed' ? { kind: 'found', unparked: [] } : reply.value;
    },

    async park(ref, deliveryId, { afterMs, task, lateTask }) {
      const reply = await records.transact(`tow ${ref}`, async (transaction) => {
        const record = await transaction.tow(ref);
        if (record.tow) return 'exists';
        const { nowMs } = transaction;
        const delivery = await transaction.delivery(deliveryId);
        if (!delivery || delivery.state === 'processed') return 'settled_before';
        if ((await redis.zscore(KEYS.tombstones, ref)) !== null) {
          await settleDelivery(transaction, record, deliveryId, 'late');
          openTask(record, lateTask, nowMs);
          return 'late';
        }
        const isParked = record.parked.some(({ id }) => id === deliveryId);
        if (!isParked && record.parked.length >= PARKED_MAX) {
          await settleDelivery(transaction, record, deliveryId, 'set_aside');
          openTask(record, invoicesSetAsideTask, nowMs);
          return 'set_aside';
        }
        const parkedAtMs = delivery.parkedAtMs ?? nowMs;
        if (!isParked) record.parked.push({ id: deliveryId, atMs: parkedAtMs });
        if (delivery.state !== 'parked') {
          transaction.changeDelivery(deliveryId, { state: 'parked', parked_at: String(parkedAtMs) });
          transaction.publish('delivery.parked', { towingReferenceId: ref });
        }
        const askAtMs = parkedAtMs + afterMs;
        if (askAtMs > nowMs) {
          transaction.effect(['ZADD', KEYS.dueDeliveries, askAtMs, deliveryId]);
        } else {
          openTask(record, task, nowMs);
          transaction.effect(['ZREM', KEYS.dueDeliveries, deliveryId]);
        }
        return 'parked';
      });
      if (reply.kind === 'failed') throw new Error('a delivery is parked without a check');
      return reply.value;
    },

    async save(before, change, remember) {
      const ref = before.tow.towingReferenceId;
      const reply = await records.transact(`tow ${ref}`, async (transaction) => {
        const known = remember && (await transaction.fingerprintOf(remember.scope));
        if (known) return { kind: 'remembered', fingerprint: known } as const;
        const record = await transaction.tow(ref);
        if (!record.tow || versionNumber(record.version) !== before.version) return { kind: 'stale' } as const;
        applyChange(record, change, transaction.nowMs);
        const { delivery } = change;
        const hasSettled =
          delivery !== null && (await settleDelivery(transaction, record, delivery.id, delivery.verdict));
        transaction.audit(change.audit);
        transaction.remember(remember);
        return { kind: 'saved', hasSettled } as const;
      });
      return reply.kind === 'failed' ? { kind: 'remembered', fingerprint: reply.value } : reply.value;
    },
  };
}

function applyChange(record: StoredTow, change: TowChange, nowMs: number): void {
  record.tow = change.tow;
  for (const id of change.withdraw.ids) {
    waiveEntry(record, entryNamed(record, id), change.withdraw.reason, nowMs);
    noteEvent(record, { type: 'report.waived', report_id: id, reason: change.withdraw.reason }, nowMs);
  }
  for (const report of change.reports) oweReport(record, report, nowMs);
  for (const entry of change.timeline) noteEvent(record, entry, nowMs);
  for (const task of change.openTasks) openTask(record, task, nowMs);
  for (const id of change.closeTasks) delete record.tasks[id];
}
