import type { Redis } from 'ioredis';
import { storedProgress, storedSubscription } from '../../domain/ops/subscriptions';
import { jsonText } from '../../domain/stored';
import { done, refused, transactOnce } from '../../workflow/action-result';
import {
  NO_SUBSCRIPTION,
  SUBSCRIPTION_NAME_TAKEN,
  type StoredSubscription,
  type SubscriptionChange,
  type SubscriptionStore,
} from '../../workflow/ops/subscriptions';
import { KEYS, subscriptionKey } from '../keys';
import { unlessUnusable } from '../outbox/readable-records';
import { recordsOf } from '../outbox/records';
import type { RecordTransaction } from '../redis/transaction';
import { wellFormedJson } from '../scripts';

/** Subscriptions: one hash each, with what a person has set (`document`) and how far it has come (`progress`). */

const documentText = jsonText(storedSubscription);
const progressText = jsonText(storedProgress);
/** One order for all, so that two of the same name are not created at once. */
const ORDER_KEY = 'subscriptions';

export function createSubscriptionStore(redis: Redis): SubscriptionStore {
  const records = recordsOf(redis);
  const ids = () => redis.zrange(KEYS.subscriptions, '0', '-1');
  const read = async (id: string): Promise<StoredSubscription | null> => {
    const [version, document, progress] = await redis.hmget(subscriptionKey(id), 'v', 'document', 'progress');
    if (!version || !document || !progress) return null;
    return { version, subscription: documentText.parse(document), progress: progressText.parse(progress) };
  };
  const list = async () => {
    const found = await Promise.all((await ids()).map((id) => unlessUnusable(read(id))));
    return found.filter((stored) => stored !== null);
  };
  const write = (transaction: RecordTransaction, id: string, expected: string, changed: SubscriptionChange) => {
    const { subscription, progress } = changed;
    transaction.change({
      key: subscriptionKey(id),
      expected,
      set: {
        ...(subscription ? { document: wellFormedJson(subscription) } : {}),
        ...(progress ? { progress: wellFormedJson(progress) } : {}),
      },
    });
  };
  return {
    list,
    ids,
    read,

    create: (subscription, progress, { audit, idempotency, answer }) =>
      transactOnce(records, { orderKey: ORDER_KEY, idempotency }, async (transaction: RecordTransaction) => {
        const { id, name } = subscription;
        if ((await list()).some((other) => other.subscription.name === name)) return refused(SUBSCRIPTION_NAME_TAKEN);
        write(transaction, id, '', { subscription, progress });
        transaction.effect(
          ['ZADD', KEYS.subscriptions, transaction.nowMs, id],
          ['ZADD', KEYS.dueSubscriptions, transaction.nowMs, id],
        );
        transaction.audit(audit);
        return done(answer);
      }),

    change: (id, decide, { audit, idempotency, answer = null }) =>
      transactOnce(records, { orderKey: ORDER_KEY, idempotency }, async (transaction: RecordTransaction) => {
        const stored = await read(id);
        if (!stored) return refused(NO_SUBSCRIPTION);
        const changed = decide(stored, transaction.nowMs);
        write(transaction, id, stored.version, changed);
        transaction.effect(['ZADD', KEYS.dueSubscriptions, transaction.nowMs, id]);
        const { pausedBy } = changed.progress ?? stored.progress;
        if (pausedBy !== 'failure') await transaction.closeGeneralTask(`subscription_paused.${id}`);
        transaction.audit(audit);
        return done<object | null>(answer);
      }),

    remove: (id, audit) =>
      transactOnce(records, { orderKey: ORDER_KEY, idempotency: undefined }, async (transaction: RecordTransaction) => {
        if (!(await read(id))) return refused(NO_SUBSCRIPTION);
        transaction.effect(
          ['DEL', subscriptionKey(id)],
          ['ZREM', KEYS.subscriptions, id],
          ['ZREM', KEYS.dueSubscriptions, id],
        );
        await transaction.closeGeneralTask(`subscription_paused.${id}`);
        transaction.audit(audit);
        return done(null);
      }),

    keep: (id, version, progress, { tasks, atMs }) =>
      records.transact(ORDER_KEY, async (transaction) => {
        const stored = await read(id);
        if (stored?.version !== version) return false;
        write(transaction, id, version, { progress });
        transaction.effect(['ZADD', KEYS.dueSubscriptions, atMs, id]);
        for (const task of tasks) {
          // oxlint-disable-next-line eslint/no-await-in-loop
          await transaction.openGeneralTask(task);
        }
        return true;
      }),
  };
}
