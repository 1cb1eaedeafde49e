import type { Redis } from 'ioredis';
import { otherCall, type OtherCall } from '../../contracts/outbox/records';
import { nextVersion } from '../../domain/outbox/outbox-record';
import { webhookElsewhereTask } from '../../domain/ops/tasks';
import type { Clock } from '../../platform/clock';
import { afterReading } from '../../platform/timers';
import type { DeliveryStore, Intake, NewDelivery } from '../../workflow/ports';
import { decodeDelivery } from './delivery-records';
import { deliveryKey, differingDeliveriesKey, KEYS, towKey } from '../keys';
import { unlessUnusable } from '../outbox/readable-records';
import { texts } from '../redis/parse';
import { replicated } from '../redis/replicas';
import { mergedRows, pageOf } from '../outbox/rows';
import { Script } from '../scripts';
import { storedText } from '../redis/at-rest';
import { openGeneralTask } from '../ops/tasks';
import { PUT_OFF_MS, type Wake } from '../outbox/wake';

const acceptDeliveries = new Script('accept');

/** The newest calls on paths of no webhook are kept, each with a limited length. */
const OTHERS_MAX = 200;
const OTHER_BODY_MAX = 16_384;

/** Deliveries per call, so that Redis can serve other clients in between. */
const GROUP_MAX = 200;
/** Calls at a time: while Redis stores one, the next is put together. */
const CALLS_MAX = 2;

/** One that has waited longer would probably not be stored in time. */
const WAIT_MAX_MS = 1100;
/**
 * A call is stored within so many time limits of a command, or fails: with the count of the calls of its source before it
 * (source-limits.ts), it is answered within 2 s.
 */
const STORED_WITHIN_COMMANDS = 2;

interface WaitingDelivery {
  readonly delivery: NewDelivery;
  readonly sinceMs: number;
  readonly resolve: (kind: 'accepted' | 'already_known') => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Stores webhook deliveries before they are acknowledged. Deliveries that arrive together share one call. One that has
 * waited too long for the calls before it is rejected, and never stored. Any other that is rejected may be stored later:
 * the sender repeats it, which is harmless. `wake` adds the job of each group; without it, the scheduler does.
 */
export function createIntake(redis: Redis, clock: Clock, wake: Wake | null = null): Intake {
  const waiting: WaitingDelivery[] = [];
  let isScheduled = false;
  let runningCalls = 0;
  const flushSoon = () => {
    if (isScheduled || runningCalls === CALLS_MAX || waiting.length === 0) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      runningCalls += 1;
      rejectLate();
      void accept({ redis, clock, wake }, waiting.splice(0, GROUP_MAX)).then(() => {
        runningCalls -= 1;
        return flushSoon();
      });
    });
  };
  const rejectLate = () => {
    const earliestMs = clock.monotonicMs() - WAIT_MAX_MS;
    while (waiting[0] && waiting[0].sinceMs < earliestMs) waiting.shift()?.reject(new Error('Redis is too slow'));
  };
  return {
    accept(delivery) {
      const storing = new Promise<'accepted' | 'already_known'>((resolve, reject) => {
        waiting.push({ delivery, sinceMs: clock.monotonicMs(), resolve, reject });
        flushSoon();
      });
      return inTime(redis, storing);
    },

    async keepOther({ path, verified, rawBody, namesTow }) {
      const entry: OtherCall = {
        id: clock.id(),
        path,
        received_at: new Date(clock.nowMs()).toISOString(),
        verified,
        length: rawBody.length,
        raw_body: rawBody.slice(0, OTHER_BODY_MAX),
      };
      const stored = storedText(redis, { key: KEYS.otherCalls, field: '' }, JSON.stringify(entry));
      const keep = () =>
        redis
          .multi()
          .lpush(KEYS.otherCalls, stored)
          .ltrim(KEYS.otherCalls, 0, OTHERS_MAX - 1)
          .exec();
      // At the same time, because the answer to the call waits for both.
      const tasks = namesTow ? [openGeneralTask(redis, webhookElsewhereTask)] : [];
      await inTime(redis, Promise.all([replicated(redis, keep), ...tasks]));
    },
  };
}

/** Rejects when a call is not stored in time: it takes several commands, each of which may take nearly its time limit. */
function inTime<T>({ options: { commandTimeout } }: Redis, storing: Promise<T>): Promise<T> {
  if (commandTimeout === undefined) return storing;
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('Redis is too slow'));
    const cancel = afterReading(STORED_WITHIN_COMMANDS * commandTimeout, fail);
    void storing.finally(cancel).then(resolve, reject);
  });
}

async function accept(
  { redis, clock, wake }: { redis: Redis; clock: Clock; wake: Wake | null },
  group: readonly WaitingDelivery[],
): Promise<void> {
  if (group.length === 0) return;
  try {
    const keys: string[] = [KEYS.indexDeliveries, KEYS.dueDeliveries, KEYS.dueTows, KEYS.changes];
    const invoicedTows: string[] = [];
    // Of every record of the group: versions of different records are never compared.
    const args = [nextVersion('', clock.id()), wake ? PUT_OFF_MS : 0];
    for (const { delivery } of group) {
      const { id, kind, towingReferenceId, rawBody, verified, signatureId, signedAtMs } = delivery;
      const record = deliveryKey(id);
      const body = storedText(redis, { key: record, field: 'rawBody' }, rawBody);
      keys.push(record);
      args.push(id, kind, towingReferenceId, body, String(verified), signatureId ?? '');
      args.push(signedAtMs ?? '');
      if (kind === 'tow_invoice') invoicedTows.push(towKey(towingReferenceId));
    }
    const ids = [...new Set(group.map(({ delivery }) => delivery.id))];
    const followedBy = () => wake?.('deliveries', ids);
    const run = () => acceptDeliveries.run(redis, [...keys, ...invoicedTows], args, { followedBy });
    const replies = texts(await replicated(redis, run), 'accept');
    group.forEach(({ resolve }, at) => resolve(replies[at] === 'accepted' ? 'accepted' : 'already_known'));
  } catch (error) {
    group.forEach(({ reject }) => reject(error));
  }
}

/** Reads stored deliveries. */
export function createDeliveryStore(redis: Redis): DeliveryStore {
  const read = async (id: string) => decodeDelivery(await redis.hgetall(deliveryKey(id)));
  return {
    read,

    async list({ cursor, limit, differing }) {
      const keys = differing?.map(differingDeliveriesKey) ?? [KEYS.indexDeliveries];
      const { refs: ids, nextCursor } = await pageOf(mergedRows(redis, keys, 'newest'), { cursor, limit });
      const items = await Promise.all(ids.map((id) => unlessUnusable(read(id))));
      return { items: items.filter((item) => item !== null), nextCursor };
    },

    async ids(differenceId, max) {
      return texts(await redis.zrange(differingDeliveriesKey(differenceId), '0', String(max - 1)), 'deliveries');
    },

    async others(limit) {
      const entries = await redis.lrange(KEYS.otherCalls, 0, limit - 1);
      return entries.map((entry) => otherCall.parse(JSON.parse(entry)));
    },
  };
}
