import type { Redis } from 'ioredis';
import { retiredKind } from '../contracts/replies';
import { auditLineOf } from '../domain/audit-line';
import { archiveFailingTask } from '../domain/tasks';
import type { RetentionStore } from '../workflow/retention-port';
import { KEYS, towKeys, violationKeys } from './keys';
import { Script } from './scripts';
import { generalTaskJson } from './tows';

const retireTow = new Script('retire-tow');
const retireDelivery = new Script('retire-delivery');
const retireViolation = new Script('retire-violation');
const trimAudit = new Script('trim-audit');
const generalTask = new Script('general-task');

const DAY_MS = 86_400_000;
/** How long a tow is remembered after it has left: what comes later for it is taken for a new one. */
const TOMBSTONE_MS = 400 * DAY_MS;
const PUT_OFF_MS = 3_600_000;
const ROWS_OF = { tow: KEYS.retireTows, delivery: KEYS.retireDeliveries, violation: KEYS.retireViolations } as const;

/** What may leave Redis; see the headers of lua/retire-*.lua and lua/trim-audit.lua. */
export function createRetentionStore(redis: Redis): RetentionStore {
  const nowMs = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };
  const oldest = async (rows: string, keepMs: number, limit: number) =>
    redis.zrangebyscore(rows, '-inf', (await nowMs()) - keepMs, 'LIMIT', 0, limit);
  return {
    towsOver: (keepMs, limit) => oldest(KEYS.retireTows, keepMs, limit),
    deliveriesSettled: (keepMs, limit) => oldest(KEYS.retireDeliveries, keepMs, limit),

    retireTow: async (ref, record) =>
      retiredKind.parse(await retireTow.run(redis, towKeys(ref), [ref, record?.version ?? ''])),

    retireDelivery: async (id, record) => {
      const keys = towKeys(record?.towingReferenceId ?? '', { deliveryId: id });
      return retiredKind.parse(await retireDelivery.run(redis, keys, [id, record?.processedAtMs ?? '']));
    },

    violationsOver: (keepMs, limit) => oldest(KEYS.retireViolations, keepMs, limit),

    retireViolation: async (id, record) =>
      retiredKind.parse(await retireViolation.run(redis, violationKeys(id), [id, record?.version ?? ''])),

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
      await redis.zadd(ROWS_OF[what], 'XX', (await nowMs()) - keepMs + PUT_OFF_MS, id);
    },

    sweepTombstones: async () => redis.zremrangebyscore(KEYS.tombstones, '-inf', `(${(await nowMs()) - TOMBSTONE_MS}`),
  };
}

/** The task that says that the archive cannot be written: open while it cannot, closed by whoever can again. */
export function createArchiveTask(redis: Redis) {
  const run = (change: 'open' | 'close', id: string, json: string) =>
    generalTask.run(redis, towKeys(''), [change, id, json]);
  return {
    async open(code: string): Promise<void> {
      const task = archiveFailingTask(code);
      await run('open', task.subject, generalTaskJson(task));
    },
    async close(): Promise<void> {
      await run('close', archiveFailingTask('').subject, '');
    },
  };
}
