import type { Redis } from 'ioredis';
import { deliveryRecord } from '../contracts/records';
import { deferDelivery } from '../domain/delivery';
import { openTask } from '../domain/outbox-record';
import { failingDeliveryTask } from '../domain/tasks';
import { lineOfDelivery, lineOfTow } from '../workflow/transaction-port';
import { openGeneralTask } from './general-task';
import { deliveryKey, KEYS } from './keys';
import { createRecordStore } from './record-store';
import { recordsOf } from './records';

/** Deliveries that cannot be processed, and the tasks about them. */

/** A delivery that was mended by hand is processed within an hour. */
const UNREADABLE_WAIT_MAX_MS = 3_600_000;

/**
 * Puts off a delivery whose processing failed, for longer each time. Resolves with how often it has failed in a row; null for
 * one that cannot be read, which opens a task at once.
 */
export function createDeferral(redis: Redis, wait: { baseMs: number; capMs: number }) {
  const records = createRecordStore(redis);
  return async (id: string): Promise<number | null> => {
    if (await isUnreadable(redis, id)) {
      await deferUnreadable(redis, id, wait.baseMs);
      return null;
    }
    const { failures, asksPerson, ref } = await records.transact(lineOfDelivery(id), async (transaction) => {
      const delivery = await transaction.delivery(id);
      if (!delivery || delivery.state === 'processed') {
        transaction.scheduleDelivery(id, null);
        return { failures: 0, asksPerson: false, ref: '' };
      }
      const { runAtMs, asksPerson } = deferDelivery(delivery, wait, transaction.nowMs);
      transaction.scheduleDelivery(id, runAtMs);
      return { failures: delivery.failures, asksPerson, ref: delivery.towingReferenceId };
    });
    if (asksPerson) await openFailingTask(redis, id, ref);
    return failures;
  };
}

/** Whether there is a delivery that is not stored as deliveries are. */
async function isUnreadable(redis: Redis, id: string): Promise<boolean> {
  try {
    const hash = await redis.hgetall(deliveryKey(id));
    return hash['id'] !== undefined && !deliveryRecord.safeParse(hash).success;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return true;
    throw error;
  }
}

/**
 * Puts off a delivery that cannot be read, and opens a task about it. Nothing can be counted in it, so that it waits for as
 * long again as it has waited since it was received: from `baseMs` up to an hour, twice as long each time.
 */
async function deferUnreadable(redis: Redis, id: string, baseMs: number): Promise<void> {
  const records = recordsOf(redis);
  const [receivedAt, nowMs] = await Promise.all([redis.zscore(KEYS.indexDeliveries, id), records.nowMs()]);
  const ageMs = receivedAt === null ? UNREADABLE_WAIT_MAX_MS : nowMs - Number(receivedAt);
  const waitMs = Math.min(UNREADABLE_WAIT_MAX_MS, Math.max(baseMs, ageMs));
  await records.commit({ records: [], effects: [['ZADD', KEYS.dueDeliveries, nowMs + waitMs, id]] });
  await openGeneralTask(redis, failingDeliveryTask(id));
}

/** Opens the task about a delivery that keeps failing: on its tow, or on none when that cannot be read. */
async function openFailingTask(redis: Redis, id: string, towingReferenceId: string): Promise<void> {
  const task = failingDeliveryTask(id);
  try {
    await createRecordStore(redis).transact(lineOfTow(towingReferenceId), async (transaction) => {
      const delivery = await transaction.delivery(id);
      if (!delivery || delivery.state === 'processed') return;
      openTask(await transaction.tow(towingReferenceId), task, transaction.nowMs);
    });
  } catch {
    await openGeneralTask(redis, task);
  }
}
