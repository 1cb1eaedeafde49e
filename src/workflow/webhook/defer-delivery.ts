import type { RetrySettings } from '../../domain/outbox/backoff';
import { deferDelivery, type DeferredDelivery, type Delivery } from '../../domain/webhook/delivery';
import { openTask } from '../../domain/outbox/outbox-record';
import { failingDeliveryTask } from '../../domain/ops/tasks';
import { HOUR_MS } from '../../domain/timestamp';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import { readOr } from '../outbox/read-record';
import { orderKeyOf, type RecordStore, type Transaction } from '../transaction-port';

/** Defers deliveries that cannot be processed, and opens the tasks about them. */

/** A delivery that was repaired manually is processed within this time. */
const DAMAGED_WAIT_MAX_MS = HOUR_MS;

/**
 * Defers a delivery whose processing failed, longer each time. One that cannot be decoded opens a task at once.
 * `isTransient`: true for an error of Redis that may be over later.
 */
export function createDeferral(
  records: RecordStore,
  settings: RetrySettings,
  isTransient: (error: unknown) => boolean,
): (id: string) => Promise<DeferredDelivery> {
  const defer = (id: string, openFailingTask: OpenFailingTask): Promise<DeferredDelivery> =>
    records.transact(orderKeyOf('delivery', id), async (transaction) => {
      const delivery = await readOr(transaction.delivery(id), 'damaged', DamagedRecord);
      if (delivery === 'damaged') {
        await deferDamaged(transaction, id, settings.retryBaseMs);
        return { failures: null, needsPerson: true };
      }
      if (!delivery || delivery.state === 'processed') {
        transaction.scheduleDelivery(id, null);
        return { failures: 0, needsPerson: false };
      }
      const { runAtMs, asksPerson, needsPerson } = deferDelivery(delivery, settings, transaction.nowMs);
      transaction.scheduleDelivery(id, runAtMs);
      if (asksPerson) await openFailingTask(transaction, delivery);
      return { failures: delivery.failures, needsPerson };
    });
  return async (id) => {
    let usesTow = false;
    try {
      return await defer(id, (transaction, delivery) => {
        usesTow = true;
        return openOnTow(transaction, delivery);
      });
    } catch (error) {
      if (!usesTow || isTransient(error)) throw error;
      // A tow that cannot be written would keep the failure from being counted, and the task from being opened.
      return defer(id, openGenerally);
    }
  };
}

/**
 * Defers a delivery that cannot be decoded, and opens a task about it. Its failures cannot be counted in it, so it
 * waits for its age: from `baseMs` up to an hour, twice as long each time.
 */
async function deferDamaged(transaction: Transaction, id: string, baseMs: number): Promise<void> {
  const { nowMs } = transaction;
  const receivedAtMs = await transaction.receivedAtMs(id);
  const ageMs = receivedAtMs === null ? DAMAGED_WAIT_MAX_MS : nowMs - receivedAtMs;
  transaction.scheduleDelivery(id, nowMs + Math.min(DAMAGED_WAIT_MAX_MS, Math.max(baseMs, ageMs)));
  await transaction.openGeneralTask(failingDeliveryTask(id));
}

/** Opens the task about a delivery that keeps failing. */
type OpenFailingTask = (transaction: Transaction, delivery: Delivery) => Promise<unknown>;

/** Opens it on the tow of the delivery, or as a general task when that tow cannot be used. */
const openOnTow: OpenFailingTask = async (transaction, delivery) => {
  const tow = await readOr(transaction.tow(delivery.towingReferenceId), null, DamagedRecord, UnusableRecord);
  if (tow) openTask(tow, failingDeliveryTask(delivery.id), transaction.nowMs);
  else await openGenerally(transaction, delivery);
};

/** Opens it as a general task. */
const openGenerally: OpenFailingTask = (transaction, { id }) => transaction.openGeneralTask(failingDeliveryTask(id));
