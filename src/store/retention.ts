import type { Redis } from 'ioredis';
import { ARCHIVED_MARKER_KEPT_MS } from '../domain/conservation';
import { auditLineOf } from '../domain/audit-line';
import { archiveFailingTask } from '../domain/tasks';
import { versionNumber } from '../domain/outbox-record';
import { isArchivable } from '../domain/outbox-schedule';
import { metadataIdOf } from '../domain/violation';
import type { RemovalResult, RetentionStore } from '../workflow/retention-port';
import { orderKeyOfDelivery, orderKeyOfTow } from '../workflow/transaction-port';
import { closeGeneralTask, openGeneralTask } from './tasks';
import { KEYS } from './keys';
import { recordsOf } from './records';
import { redisTimeMs } from './redis-time';
import { Script } from './scripts';
import type { RecordTransaction } from './transaction';

const trimAudit = new Script('trim-audit');

/** A record that could not be archived is tried again after this. */
const POSTPONED_MS = 3_600_000;
const ARCHIVABLE = { tow: KEYS.retireTows, delivery: KEYS.retireDeliveries, violation: KEYS.retireViolations } as const;

/** Finds records that may be archived, and removes them from Redis afterwards. */
export function createRetentionStore(redis: Redis): RetentionStore {
  const records = recordsOf(redis);
  const oldest = async (index: string, keepMs: number, limit: number) =>
    redis.zrangebyscore(index, '-inf', (await redisTimeMs(redis)) - keepMs, 'LIMIT', 0, limit);
  return {
    finishedTows: (keepMs, limit) => oldest(KEYS.retireTows, keepMs, limit),
    settledDeliveries: (keepMs, limit) => oldest(KEYS.retireDeliveries, keepMs, limit),

    async removeTow(ref, record) {
      return records.transact(
        orderKeyOfTow(ref),
        async (transaction): Promise<RemovalResult> => {
          const stored = await transaction.tow(ref);
          if (!stored.tow) {
            transaction.effect(['ZREM', KEYS.retireTows, ref]);
            return 'gone';
          }
          const { lease, version } = stored;
          const isLeased = lease !== null && lease.untilMs > transaction.nowMs;
          if (versionNumber(version) !== record?.version || isLeased || !isArchivable(stored)) {
            if (!isArchivable(stored)) transaction.effect(['ZREM', KEYS.retireTows, ref]);
            return 'kept';
          }
          transaction.remove(stored);
          transaction.effect(
            ['ZADD', KEYS.archivedMarkers, transaction.nowMs, ref],
            ['ZREM', KEYS.permitQueueTows, ref],
          );
          transaction.publish('tow.archived', { towingReferenceId: ref });
          return 'removed';
        },
        { drains: true },
      );
    },

    async removeDelivery(id, record) {
      const remove = async (transaction: RecordTransaction): Promise<RemovalResult> => {
        const delivery = await transaction.delivery(id);
        if (delivery?.state !== 'processed') {
          transaction.effect(['ZREM', KEYS.retireDeliveries, id]);
          return delivery ? 'kept' : 'gone';
        }
        if (delivery.processedAtMs !== record?.processedAtMs || delivery.replays !== record?.replays) return 'kept';
        transaction.removeDelivery(id);
        const indexes = [KEYS.indexDeliveries, KEYS.retireDeliveries];
        transaction.effect(...indexes.map((key) => ['ZREM', key, id] as const));
        return 'removed';
      };
      return records.transact(orderKeyOfDelivery(id), remove, { drains: true });
    },

    finishedViolations: (keepMs, limit) => oldest(KEYS.retireViolations, keepMs, limit),

    async removeViolation(id, record) {
      return records.transact(
        `violation ${id}`,
        async (transaction): Promise<RemovalResult> => {
          const stored = await transaction.violation(id);
          if (!stored) {
            transaction.effect(['ZREM', KEYS.retireViolations, id]);
            return 'gone';
          }
          const { lease, version } = stored;
          const isLeased = lease !== null && lease.untilMs > transaction.nowMs;
          if (versionNumber(version) !== record?.version || isLeased || !isArchivable(stored)) {
            if (!isArchivable(stored)) transaction.effect(['ZREM', KEYS.retireViolations, id]);
            return 'kept';
          }
          transaction.remove(stored);
          const names = [metadataIdOf(stored.violation), id];
          await removeNames(redis, transaction, { key: KEYS.violationAliases, names, id });
          await removeNames(redis, transaction, { key: KEYS.violationReferences, names: stored.references, id });
          transaction.effect(['ZREM', KEYS.permitQueueViolations, id]);
          transaction.publish('violation.archived', { towingReferenceId: null, violationId: id });
          return 'removed';
        },
        { drains: true },
      );
    },

    async auditLines(keepMs, limit) {
      const [lines, now] = await Promise.all([redis.lrange(KEYS.audit, 0, limit), redisTimeMs(redis)]);
      // The last line of the audit must stay, and this may be it.
      const candidates = lines.slice(0, -1);
      const isOld = (line: string) => (auditLineOf(line)?.atMs ?? Infinity) <= now - keepMs;
      const firstYoung = candidates.findIndex((line) => !isOld(line));
      return firstYoung === -1 ? candidates : candidates.slice(0, firstYoung);
    },

    async trimAudit(lines) {
      const [first, last] = [lines[0], lines.at(-1)];
      if (first === undefined || last === undefined) return;
      await trimAudit.run(redis, [KEYS.audit], [lines.length, first, last]);
    },

    async putOff(what, id, keepMs) {
      const atMs = (await redisTimeMs(redis)) - keepMs + POSTPONED_MS;
      await records.commit({ records: [], effects: [['ZADD', ARCHIVABLE[what], 'XX', atMs, id]] }, { drains: true });
    },

    removeExpiredMarkers: async () =>
      redis.zremrangebyscore(KEYS.archivedMarkers, '-inf', `(${(await redisTimeMs(redis)) - ARCHIVED_MARKER_KEPT_MS}`),
  };
}

/** Removes the names of a violation. Names that now belong to another violation stay. */
async function removeNames(
  redis: Redis,
  transaction: RecordTransaction,
  { key, names, id }: { readonly key: string; readonly names: readonly string[]; readonly id: string },
): Promise<void> {
  const owners = await Promise.all(names.map((name) => redis.hget(key, name)));
  for (const name of names.filter((_, at) => owners[at] === id)) {
    // Another violation may take the name before the commit, which is stale then.
    transaction.check({ key, field: name, value: id });
    transaction.effect(['HDEL', key, name]);
  }
}

/** The task that is open while the archive cannot be written. */
export function createArchiveTask(redis: Redis) {
  return {
    async open(code: string): Promise<void> {
      await openGeneralTask(redis, archiveFailingTask(code), { drains: true });
    },
    async close(): Promise<void> {
      await closeGeneralTask(redis, archiveFailingTask('').subject);
    },
  };
}
