import type { Redis } from 'ioredis';
import { resetFutureTimes } from '../../domain/ops/conservation';
import { recordIdOf, type OutboxRecord } from '../../domain/outbox/outbox-record';
import type { DeliveryState } from '../../domain/vocabulary';
import { orderKeyOf } from '../../workflow/transaction-port';
import type { Effect } from '../redis/commit';
import { deliveryKey, differingDeliveriesKey, KEYS, taskGroupKey } from '../keys';
import { recordsOf } from '../outbox/records';
import { joinGroup, tasksOf, type TaskTexts } from './task-effects';
import type { RecordTransaction } from '../redis/transaction';

/** Restores missing index entries of records. */

/** Rescheduled work frees memory when it is done. */
const WHEN_FULL = { whenFull: true } as const;

/** Restores the schedule entry and the open tasks of a record. */
export async function repairRecord(redis: Redis, found: OutboxRecord): Promise<void> {
  const id = recordIdOf(found);
  await recordsOf(redis).transact(
    orderKeyOf(found.kind, id),
    async (transaction) => {
      const record = found.kind === 'tow' ? await transaction.tow(id) : await transaction.violation(id);
      if (!record || (record.kind === 'tow' && !record.tow)) return;
      resetFutureTimes(record, transaction.nowMs);
      transaction.schedule(record);
      await restoreTasks(redis, transaction, record);
    },
    WHEN_FULL,
  );
}

/** Adds missing open tasks of a record to the lists. */
async function restoreTasks(redis: Redis, transaction: RecordTransaction, record: OutboxRecord): Promise<void> {
  const missing = await missingTasks(redis, tasksOf(record));
  if (missing.length === 0) return;
  transaction.effect(...missing);
  // Two processes that repair the record at once would both count its tasks.
  transaction.writeVersion(record);
}

interface ListedDelivery {
  readonly id: string;
  readonly version: string;
  readonly state: DeliveryState;
  readonly differenceId: string | null;
  readonly receivedAtMs: number;
  readonly towingReferenceId: string;
}

/**
 * Restores the schedule entry of a delivery, or its place in the list of its kind of difference, and the open tasks of a
 * tow that is not known yet.
 */
export async function repairDelivery(redis: Redis, delivery: ListedDelivery): Promise<void> {
  const { id, version, state, differenceId, receivedAtMs, towingReferenceId } = delivery;
  const records = recordsOf(redis);
  const nowMs = await records.nowMs();
  const effect: Effect =
    state === 'differs' && differenceId !== null
      ? ['ZADD', differingDeliveriesKey(differenceId), receivedAtMs, id]
      : ['ZADD', KEYS.dueDeliveries, nowMs, id];
  await records.commit({ records: [{ key: deliveryKey(id), expected: version }], effects: [effect] }, WHEN_FULL);
  await records.transact(
    orderKeyOf('tow', towingReferenceId),
    async (transaction) => {
      const record = await transaction.tow(towingReferenceId);
      if (!record.tow) await restoreTasks(redis, transaction, record);
    },
    WHEN_FULL,
  );
}

/** The effects that add missing tasks to the lists. A task that is already in its group is not counted again. */
async function missingTasks(redis: Redis, tasks: TaskTexts): Promise<Effect[]> {
  const missing = await Promise.all(
    Object.entries(tasks).map(async ([id, { json, openedAtMs, group }]) => {
      const [text, place, placeInGroup] = await Promise.all([
        redis.hget(KEYS.tasks, id),
        redis.zscore(KEYS.openTasks, id),
        redis.zscore(taskGroupKey(group), id),
      ]);
      const effects: Effect[] = [];
      if (text !== json) effects.push(['HSET', KEYS.tasks, id, json]);
      if (place === null) effects.push(['ZADD', KEYS.openTasks, openedAtMs, id]);
      return placeInGroup === null ? [...effects, ...joinGroup(id, group, openedAtMs)] : effects;
    }),
  );
  return missing.flat();
}
