import type { Redis } from 'ioredis';
import { deliveryRecord } from '../contracts/records';
import type { RetrySettings } from '../domain/backoff';
import { deferDelivery, type DeferredDelivery } from '../domain/delivery';
import { DamagedRecord, UnusableRecord } from '../domain/unusable-record';
import { openTask } from '../domain/outbox-record';
import { failingDeliveryTask } from '../domain/tasks';
import { HOUR_MS } from '../domain/timestamp';
import { orderKeyOf } from '../workflow/transaction-port';
import { openGeneralTask } from './tasks';
import { deliveryKey, KEYS } from './keys';
import { recordsOf } from './records';

/** Defers deliveries that cannot be processed, and opens the tasks about them. */

/** A delivery that was repaired manually is processed within this time. */
const UNREADABLE_WAIT_MAX_MS = HOUR_MS;

/** Defers a delivery whose processing failed, longer each time. One that cannot be decoded opens a task at once. */
export function createDeferral(redis: Redis, settings: RetrySettings) {
  const records = recordsOf(redis);
  return async (id: string): Promise<DeferredDelivery> => {
    if (await isUnreadable(redis, id)) {
      await deferUnreadable(redis, id, settings.retryBaseMs);
      return { failures: null, needsPerson: true };
    }
    const { failures, asksPerson, needsPerson, ref } = await records.transact(
      orderKeyOf('delivery', id),
      async (transaction) => {
        const delivery = await transaction.delivery(id);
        if (!delivery || delivery.state === 'processed') {
          transaction.scheduleDelivery(id, null);
          return { failures: 0, asksPerson: false, needsPerson: false, ref: '' };
        }
        const { runAtMs, ...asked } = deferDelivery(delivery, settings, transaction.nowMs);
        transaction.scheduleDelivery(id, runAtMs);
        return { failures: delivery.failures, ...asked, ref: delivery.towingReferenceId };
      },
    );
    if (asksPerson) await openFailingTask(redis, id, ref);
    return { failures, needsPerson };
  };
}

/** True if a delivery is stored and cannot be decoded. */
async function isUnreadable(redis: Redis, id: string): Promise<boolean> {
  try {
    const hash = await redis.hgetall(deliveryKey(id));
    return hash['id'] !== undefined && !deliveryRecord.safeParse(hash).success;
  } catch (error) {
    if (isWrongType(error)) return true;
    throw error;
  }
}

/** True for the error reply about a key that is no hash. */
function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('WRONGTYPE');
}

/**
 * Defers a delivery that cannot be decoded, and opens a task about it. Its failures cannot be counted in it, so it
 * waits for its age: from `baseMs` up to an hour, twice as long each time.
 */
async function deferUnreadable(redis: Redis, id: string, baseMs: number): Promise<void> {
  const records = recordsOf(redis);
  const [receivedAt, nowMs] = await Promise.all([redis.zscore(KEYS.indexDeliveries, id), records.nowMs()]);
  const ageMs = receivedAt === null ? UNREADABLE_WAIT_MAX_MS : nowMs - Number(receivedAt);
  const waitMs = Math.min(UNREADABLE_WAIT_MAX_MS, Math.max(baseMs, ageMs));
  await records.commit({ records: [], effects: [['ZADD', KEYS.dueDeliveries, nowMs + waitMs, id]] });
  await openGeneralTask(redis, failingDeliveryTask(id));
}

/**
 * Opens the task about a delivery that keeps failing: on its tow, or as a general task when the tow cannot be used.
 * Rejects with any other error, since the tow may have the task after an uncertain commit.
 */
async function openFailingTask(redis: Redis, id: string, towingReferenceId: string): Promise<void> {
  const task = failingDeliveryTask(id);
  try {
    await recordsOf(redis).transact(orderKeyOf('tow', towingReferenceId), async (transaction) => {
      const delivery = await transaction.delivery(id);
      if (!delivery || delivery.state === 'processed') return;
      openTask(await transaction.tow(towingReferenceId), task, transaction.nowMs);
    });
  } catch (error) {
    const isUnusable = error instanceof DamagedRecord || error instanceof UnusableRecord || isWrongType(error);
    if (!isUnusable) throw error;
    await openGeneralTask(redis, task);
  }
}
