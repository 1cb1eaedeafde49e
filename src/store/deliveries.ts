import type { Redis } from 'ioredis';
import { quarantined, type Delivery, type Quarantined } from '../contracts/records';
import type { Clock } from '../platform/clock';
import type { DeliveryStore, Intake, NewDelivery } from '../workflow/ports';
import { decodeDelivery } from './delivery-fields';
import { deliveryKey, KEYS, towKey } from './keys';
import { texts } from './parse';
import { recordsOf } from './records';
import { newestFirst } from './rows';
import { Script } from './scripts';

const acceptDeliveries = new Script('accept');

/** Of the calls that broke the contract the newest are kept, each cut at a sane length. */
const QUARANTINE_MAX = 500;
const QUARANTINED_BODY_MAX = 65_536;

/** So many deliveries go in one call at most; Redis serves others in between. */
const GROUP_MAX = 200;

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: (kind: 'accepted' | 'already_known') => void;
  readonly reject: (error: unknown) => void;
}

/** The write that a 200 to the service acknowledges. Deliveries of one turn of the event loop go in one call. */
export function createIntake(redis: Redis, clock: Clock): Intake {
  const waiting: Waiting[] = [];
  let isFlushing = false;
  const flushSoon = () => {
    if (isFlushing || waiting.length === 0) return;
    isFlushing = true;
    setImmediate(() => {
      void accept(redis, clock, waiting.splice(0, GROUP_MAX)).then(() => {
        isFlushing = false;
        return flushSoon();
      });
    });
  };
  return {
    accept: (delivery) =>
      new Promise((resolve, reject) => {
        waiting.push({ delivery, resolve, reject });
        flushSoon();
      }),

    async quarantine(call) {
      const entry: Quarantined = {
        id: clock.id(),
        path: call.path,
        received_at: new Date(clock.nowMs()).toISOString(),
        details: [...call.details],
        raw_body: call.rawBody.slice(0, QUARANTINED_BODY_MAX),
      };
      await redis
        .multi()
        .lpush(KEYS.quarantine, JSON.stringify(entry))
        .ltrim(KEYS.quarantine, 0, QUARANTINE_MAX - 1)
        .exec();
    },
  };
}

async function accept(redis: Redis, clock: Clock, group: readonly Waiting[]): Promise<void> {
  try {
    const keys = group.flatMap(({ delivery }) => [deliveryKey(delivery.id), towKey(delivery.towingReferenceId)]);
    const args = group.flatMap(({ delivery }) => [
      delivery.id,
      delivery.kind,
      delivery.towingReferenceId,
      delivery.rawBody,
      delivery.verified ? 'verified' : 'unverified',
      delivery.signatureId ?? '',
      `1.${clock.id().slice(0, 8)}`,
    ]);
    const shared = [KEYS.indexDeliveries, KEYS.dueDeliveries, KEYS.dueTows, KEYS.events];
    const replies = texts(await acceptDeliveries.run(redis, [...shared, ...keys], args), 'accept');
    group.forEach(({ resolve }, at) => resolve(replies[at] === 'accepted' ? 'accepted' : 'already_known'));
  } catch (error) {
    group.forEach(({ reject }) => reject(error));
  }
}

/** Deliveries as people and workers see them. */
export function createDeliveryStore(redis: Redis): DeliveryStore {
  const records = recordsOf(redis);
  const read = async (id: string): Promise<Delivery | null> => {
    return decodeDelivery(await redis.hgetall(deliveryKey(id)));
  };
  return {
    async read(id) {
      const [delivery, readAtMs] = await Promise.all([read(id), records.nowMs()]);
      return delivery && { ...delivery, readAtMs };
    },

    async list(page) {
      const { refs: ids, nextCursor } = await newestFirst(redis, KEYS.indexDeliveries, page);
      const items = await Promise.all(ids.map(read));
      return { items: items.filter((item) => item !== null), nextCursor };
    },

    async quarantined(limit) {
      const entries = await redis.lrange(KEYS.quarantine, 0, limit - 1);
      return entries.map((entry) => quarantined.parse(JSON.parse(entry)));
    },
  };
}
