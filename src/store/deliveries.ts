import type { Redis } from 'ioredis';
import { quarantined, type Delivery, type Quarantined } from '../contracts/records';
import type { Clock } from '../platform/clock';
import { failingDeliveryTask } from '../domain/tasks';
import type { DeliveryStore, Intake } from '../workflow/ports';
import { deliveryKey, KEYS, towKeys } from './keys';

import { deliveryOf, text } from './parse';
import { newestFirst } from './rows';
import { savedOf } from './saved';
import { Script } from './scripts';
import { taskId, taskJson } from './tows';
import { wellFormedJson } from './well-formed';

const acceptDelivery = new Script('accept');
const replayDelivery = new Script('replay-delivery');
const deferDelivery = new Script('defer-delivery');
const dropSettled = new Script('drop-settled');

/** Of the calls that broke the contract the newest are kept, each cut at a sane length. */
const QUARANTINE_MAX = 500;
const QUARANTINED_BODY_MAX = 65_536;

/** The write that a 200 to the service acknowledges. */
export function createIntake(redis: Redis, clock: Clock): Intake {
  return {
    async accept(delivery) {
      const keys = towKeys(delivery.towingReferenceId, { deliveryId: delivery.id });
      const reply = await acceptDelivery.run(redis, keys, [
        delivery.id,
        delivery.kind,
        delivery.towingReferenceId,
        delivery.rawBody,
        delivery.verified ? 'verified' : 'unverified',
        delivery.signatureId ?? '',
      ]);
      return text(reply, 'accept') === 'accepted' ? 'accepted' : 'already_known';
    },

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

/** Deliveries as people and workers see them. */
export function createDeliveryStore(redis: Redis): DeliveryStore {
  const read = async (id: string): Promise<Delivery | null> => {
    const hash = await redis.hgetall(deliveryKey(id));
    return hash['id'] === undefined ? null : deliveryOf(hash);
  };
  return {
    async read(id) {
      // Sent together: the moment costs no round trip of its own.
      const [delivery, [seconds, micros]] = await Promise.all([read(id), redis.time()]);
      return delivery && { ...delivery, readAtMs: Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) };
    },

    async list(page) {
      const { refs: ids, nextCursor } = await newestFirst(redis, KEYS.indexDeliveries, page);
      const items = await Promise.all(ids.map(read));
      return { items: items.filter((item) => item !== null), nextCursor };
    },

    async replay(id, { audit, remember }) {
      const keys = towKeys('', { deliveryId: id, ...(remember ? { idempotencyScope: remember.scope } : {}) });
      const args = [id, remember?.fingerprint ?? '', wellFormedJson(audit)];
      return savedOf(await replayDelivery.run(redis, keys, args), 'replay-delivery');
    },

    async quarantined(limit) {
      const entries = await redis.lrange(KEYS.quarantine, 0, limit - 1);
      return entries.map((entry) => quarantined.parse(JSON.parse(entry)));
    },
  };
}

/** After so many failures in a row a person is asked to look at a delivery; it is tried on all the same. */
const FAILURES_FOR_TASK = 10;

/** The two ends of a delivery's run that no use case writes. */
export function createSettling(redis: Redis, wait: { baseMs: number; capMs: number }) {
  return {
    /** Puts off a delivery whose processing failed unexpectedly; says how often it has failed by now. */
    async defer({ id, towingReferenceId }: { id: string; towingReferenceId: string }): Promise<number> {
      const task = failingDeliveryTask(id);
      const args = [id, wait.baseMs, wait.capMs, FAILURES_FOR_TASK, taskId(towingReferenceId, task)];
      const keys = towKeys(towingReferenceId, { deliveryId: id });
      const reply = await deferDelivery.run(redis, keys, [...args, taskJson(towingReferenceId, task)]);
      return Number(text(reply, 'defer-delivery'));
    },
    /** Takes the due mark from a delivery that turned out to be settled or gone. */
    async dropDue(id: string): Promise<void> {
      await dropSettled.run(redis, [deliveryKey(id), KEYS.dueDeliveries], [id]);
    },
  };
}
