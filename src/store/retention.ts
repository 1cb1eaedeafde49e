import type { Redis } from 'ioredis';
import { ARCHIVED_MARKER_KEPT_MS } from '../domain/conservation';
import { auditLineOf } from '../domain/audit-line';
import { archiveFailingTask } from '../domain/tasks';
import { versionNumber } from '../domain/outbox-record';
import { mayLeave } from '../domain/outbox-schedule';
import { metadataIdOf } from '../domain/violation';
import type { Retired, RetentionStore } from '../workflow/retention-port';
import { closeGeneralTask, openGeneralTask } from './general-task';
import { KEYS } from './keys';
import { recordsOf } from './records';
import { Script } from './scripts';
import type { Transaction } from './transaction';

const trimAudit = new Script('trim-audit');

const PUT_OFF_MS = 3_600_000;
const ROWS_OF = { tow: KEYS.retireTows, delivery: KEYS.retireDeliveries, violation: KEYS.retireViolations } as const;

/** Finds what may leave Redis, and removes it once it is archived. */
export function createRetentionStore(redis: Redis): RetentionStore {
  const records = recordsOf(redis);
  const nowMs = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };
  const oldest = async (rows: string, keepMs: number, limit: number) =>
    redis.zrangebyscore(rows, '-inf', (await nowMs()) - keepMs, 'LIMIT', 0, limit);
  return {
    towsOver: (keepMs, limit) => oldest(KEYS.retireTows, keepMs, limit),
    deliveriesSettled: (keepMs, limit) => oldest(KEYS.retireDeliveries, keepMs, limit),

    async retireTow(ref, record) {
      const reply = await records.transact(
        `tow ${ref}`,
        async (transaction): Promise<Retired> => {
          const stored = await transaction.tow(ref);
          if (!stored.tow) {
            transaction.effect(['ZREM', KEYS.retireTows, ref]);
            return 'gone';
          }
          const { lease, version } = stored;
          const isLeased = lease !== null && lease.untilMs > transaction.nowMs;
          if (versionNumber(version) !== record?.version || isLeased || !mayLeave(stored)) {
            if (!mayLeave(stored)) transaction.effect(['ZREM', KEYS.retireTows, ref]);
            return 'kept';
          }
          transaction.remove(stored);
          transaction.effect(['ZADD', KEYS.tombstones, transaction.nowMs, ref], ['ZREM', KEYS.slotWaiting, ref]);
          transaction.publish('tow.archived', { towingReferenceId: ref });
          return 'retired';
        },
        { drains: true },
      );
      return retiredOf(reply);
    },

    async retireDelivery(id, record) {
      const retire = async (transaction: Transaction): Promise<Retired> => {
        const delivery = await transaction.delivery(id);
        if (delivery?.state !== 'processed') {
          transaction.effect(['ZREM', KEYS.retireDeliveries, id]);
          return delivery ? 'kept' : 'gone';
        }
        if (delivery.processedAtMs !== record?.processedAtMs || delivery.replays !== record?.replays) return 'kept';
        transaction.removeDelivery(id);
        const rows = [KEYS.indexDeliveries, KEYS.retireDeliveries];
        transaction.effect(...rows.map((key) => ['ZREM', key, id] as const));
        return 'retired';
      };
      return retiredOf(await records.transact(`delivery ${id}`, retire, { drains: true }));
    },

    violationsOver: (keepMs, limit) => oldest(KEYS.retireViolations, keepMs, limit),

    async retireViolation(id, record) {
      const reply = await records.transact(
        `violation ${id}`,
        async (transaction): Promise<Retired> => {
          const stored = await transaction.violation(id);
          if (!stored) {
            transaction.effect(['ZREM', KEYS.retireViolations, id]);
            return 'gone';
          }
          const { lease, version } = stored;
          const isLeased = lease !== null && lease.untilMs > transaction.nowMs;
          if (versionNumber(version) !== record?.version || isLeased || !mayLeave(stored)) {
            if (!mayLeave(stored)) transaction.effect(['ZREM', KEYS.retireViolations, id]);
            return 'kept';
          }
          transaction.remove(stored);
          // A name that another violation has stays that one's.
          const names = [metadataIdOf(stored.violation), id];
          const aliases = await redis.hmget(KEYS.violationAliases, ...names);
          const references = await Promise.all(
            stored.references.map((name) => redis.hget(KEYS.violationReferences, name)),
          );
          transaction.effect(
            ...names
              .filter((_, at) => aliases[at] === id)
              .map((name) => ['HDEL', KEYS.violationAliases, name] as const),
            ...stored.references
              .filter((_, at) => references[at] === id)
              .map((name) => ['HDEL', KEYS.violationReferences, name] as const),
            ['ZREM', KEYS.violationSlotWaiting, id],
          );
          transaction.publish('violation.archived', { towingReferenceId: null, violationId: id });
          return 'retired';
        },
        { drains: true },
      );
      return retiredOf(reply);
    },

    async auditLines(keepMs, limit) {
      const [lines, now] = await Promise.all([redis.lrange(KEYS.audit, 0, limit), nowMs()]);
      // Whatever comes last here may be the last there is.
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
      const atMs = (await nowMs()) - keepMs + PUT_OFF_MS;
      await records.commit({ records: [], effects: [['ZADD', ROWS_OF[what], 'XX', atMs, id]] }, { drains: true });
    },

    sweepTombstones: async () =>
      redis.zremrangebyscore(KEYS.tombstones, '-inf', `(${(await nowMs()) - ARCHIVED_MARKER_KEPT_MS}`),
  };
}

function retiredOf(reply: { kind: 'done'; value: Retired } | { kind: 'failed' }): Retired {
  return reply.kind === 'done' ? reply.value : 'kept';
}

/** The task that the archive cannot be written: open while it cannot, closed as soon as it can. */
export function createArchiveTask(redis: Redis) {
  return {
    async open(code: string): Promise<void> {
      await openGeneralTask(redis, archiveFailingTask(code));
    },
    async close(): Promise<void> {
      await closeGeneralTask(redis, archiveFailingTask('').subject);
    },
  };
}
