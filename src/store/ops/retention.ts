import type { Redis } from 'ioredis';
import { ARCHIVED_MARKER_KEPT_MS } from '../../domain/ops/conservation';
import { auditLineOf } from '../../domain/ops/audit-chain';
import { archiveFailingTask } from '../../domain/ops/tasks';
import { validLease } from '../../domain/outbox/lease';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import { isArchivable } from '../../domain/outbox/outbox-schedule';
import { HOUR_MS } from '../../domain/timestamp';
import { metadataIdOf } from '../../domain/violation/violation';
import type { ArchivableKind, RemovalResult, RetentionStore } from '../../workflow/ops/retention';
import { orderKeyOf } from '../../workflow/transaction-port';
import { closeGeneralTask, openGeneralTask } from './tasks';
import { deliveryKey, KEYS } from '../keys';
import { leavePermitQueue } from '../outbox/record-effects';
import { RECORD_KEYS } from '../outbox/record-kinds';
import { recordsOf } from '../outbox/records';
import type { Effect } from '../redis/commit';
import { redisTimeMs } from '../redis/redis-time';
import { Script } from '../scripts';
import type { RecordTransaction } from '../redis/transaction';

const trimAudit = new Script('trim-audit');

/** A record that could not be archived is tried again after this. */
const POSTPONED_MS = HOUR_MS;
const ARCHIVABLE = { tow: KEYS.retireTows, delivery: KEYS.retireDeliveries, violation: KEYS.retireViolations } as const;

/** Finds records that may be archived, and removes them from Redis afterwards. */
export function createRetentionStore(redis: Redis): RetentionStore {
  const records = recordsOf(redis);
  const removals: Readonly<Record<ArchivableKind, RemoveRecord>> = {
    tow: removeTow,
    delivery: removeDelivery,
    violation: (...removed) => removeViolation(redis, ...removed),
  };
  return {
    finished: async (kind, keepMs, limit) =>
      redis.zrangebyscore(ARCHIVABLE[kind], '-inf', (await redisTimeMs(redis)) - keepMs, 'LIMIT', 0, limit),

    async versionOf(kind, id) {
      const key = kind === 'delivery' ? deliveryKey(id) : RECORD_KEYS[kind].record(id);
      return (await redis.hget(key, 'v')) ?? '';
    },

    remove: (kind, id, version) =>
      records.transact(orderKeyOf(kind, id), (transaction) => removals[kind](transaction, id, version), {
        whenFull: true,
      }),

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

    async putOff(kind, id, keepMs) {
      const atMs = (await redisTimeMs(redis)) - keepMs + POSTPONED_MS;
      await records.commit({ records: [], effects: [['ZADD', ARCHIVABLE[kind], 'XX', atMs, id]] }, { whenFull: true });
    },

    async removeOldChanges(keepMs) {
      const beforeMs = Math.max(0, (await redisTimeMs(redis)) - keepMs);
      const [last] = await redis.xrevrange(KEYS.changes, `(${beforeMs}-0`, '-', 'COUNT', 1);
      if (!last) return;
      const [id] = last;
      const effects: Effect[] = [
        ['SET', KEYS.changesFloor, id],
        ['XTRIM', KEYS.changes, 'MINID', '~', id],
      ];
      await records.commit({ records: [], effects }, { whenFull: true });
    },

    removeExpiredMarkers: async () =>
      redis.zremrangebyscore(KEYS.archivedMarkers, '-inf', `(${(await redisTimeMs(redis)) - ARCHIVED_MARKER_KEPT_MS}`),
  };
}

/** Decides in a transaction whether a record is removed. */
type RemoveRecord = (transaction: RecordTransaction, id: string, version: string) => Promise<RemovalResult>;

async function removeTow(transaction: RecordTransaction, ref: string, version: string): Promise<RemovalResult> {
  const stored = await transaction.tow(ref);
  const archived = { id: ref, index: ARCHIVABLE.tow, version };
  const result = removeUnchanged(transaction, stored.tow ? stored : null, archived);
  if (result !== 'removed') return result;
  transaction.effect(['ZADD', KEYS.archivedMarkers, transaction.nowMs, ref]);
  transaction.addChange({
    type: 'tow.archived',
    subject: { kind: 'tow', id: ref },
    sequence: stored.changeCount + 1,
    data: {},
  });
  return result;
}

async function removeDelivery(transaction: RecordTransaction, id: string, version: string): Promise<RemovalResult> {
  const delivery = await transaction.delivery(id);
  if (delivery?.state !== 'processed') {
    transaction.effect(['ZREM', ARCHIVABLE.delivery, id]);
    return delivery ? 'kept' : 'gone';
  }
  // One that was removed and has come again starts at the same number. Copies do not change the version.
  if (delivery.version !== version) return 'kept';
  transaction.removeDelivery(id);
  transaction.addChange({
    type: 'delivery.archived',
    subject: { kind: 'delivery', id },
    sequence: delivery.changeCount + 1,
    data: { towing_reference_id: delivery.towingReferenceId },
  });
  transaction.effect(['ZREM', KEYS.indexDeliveries, id], ['ZREM', ARCHIVABLE.delivery, id]);
  return 'removed';
}

async function removeViolation(
  redis: Redis,
  transaction: RecordTransaction,
  id: string,
  version: string,
): Promise<RemovalResult> {
  const stored = await transaction.violation(id);
  const result = removeUnchanged(transaction, stored, { id, index: ARCHIVABLE.violation, version });
  if (!stored || result !== 'removed') return result;
  const names = [metadataIdOf(stored.violation), id];
  await removeNames(redis, transaction, { key: KEYS.violationAliases, names, id });
  await removeNames(redis, transaction, { key: KEYS.violationReferences, names: stored.references, id });
  transaction.addChange({
    type: 'violation.archived',
    subject: { kind: 'violation', id },
    sequence: stored.changeCount + 1,
    data: {},
  });
  return result;
}

/**
 * Removes a tow or violation that is still as it was archived, with its place in the waiting queue of the rate limit. A
 * record that may not be archived any more, or is gone, leaves the index of those that may.
 */
function removeUnchanged(
  transaction: RecordTransaction,
  stored: OutboxRecord | null,
  archived: { readonly id: string; readonly index: string; readonly version: string },
): RemovalResult {
  if (!stored || !isArchivable(stored)) {
    transaction.effect(['ZREM', archived.index, archived.id]);
    return stored ? 'kept' : 'gone';
  }
  // The whole version: after a failover that loses a write, another one makes the same number.
  if (validLease(stored, transaction.nowMs) || stored.version !== archived.version) return 'kept';
  transaction.remove(stored);
  transaction.effect(leavePermitQueue(stored));
  return 'removed';
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
      await openGeneralTask(redis, archiveFailingTask(code), { whenFull: true });
    },
    async close(): Promise<void> {
      await closeGeneralTask(redis, archiveFailingTask('').subject);
    },
  };
}
