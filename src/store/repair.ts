import type { Redis } from 'ioredis';
import { takeBackFarAhead } from '../domain/conservation';
import type { OutboxRecord } from '../domain/outbox-record';
import type { Effect } from './commit';
import { tasksOf, type TaskTexts } from './indexes';
import { deliveryKey, KEYS, taskGroupKey, taskGroupsKey } from './keys';
import { recordsOf } from './records';

/** Repairs index entries that a record lacks, in commits that are only written on the version they were decided on. */

/** Work that is due again frees memory when it is done. */
const WHEN_FULL = { drains: true } as const;

/** Puts a record back on the schedule and its open tasks back on the list, as the record says they should be. */
export async function repairRecord(redis: Redis, { kind, ...found }: OutboxRecord): Promise<void> {
  const name = 'ref' in found ? found.ref : found.id;
  await recordsOf(redis).transact(
    `${kind} ${name}`,
    async (transaction) => {
      const record = kind === 'tow' ? await transaction.tow(name) : await transaction.violation(name);
      if (!record || (record.kind === 'tow' && !record.tow)) return;
      takeBackFarAhead(record, transaction.nowMs);
      transaction.schedule(record);
      transaction.effect(...(await missingTasks(redis, tasksOf(record))));
    },
    WHEN_FULL,
  );
}

/** Puts a delivery back on the schedule, and the open tasks of a tow that is not known yet back on the list. */
export async function repairDelivery(
  redis: Redis,
  { id, version, towingReferenceId }: { id: string; version: string; towingReferenceId: string },
): Promise<void> {
  const records = recordsOf(redis);
  const nowMs = await records.nowMs();
  await records.commit(
    {
      records: [{ key: deliveryKey(id), expected: version }],
      effects: [['ZADD', KEYS.dueDeliveries, nowMs, id]],
    },
    WHEN_FULL,
  );
  await records.transact(
    `tow ${towingReferenceId}`,
    async (transaction) => {
      const record = await transaction.tow(towingReferenceId);
      if (!record.tow) transaction.effect(...(await missingTasks(redis, tasksOf(record))));
    },
    WHEN_FULL,
  );
}

/** What the lists of tasks lack of these. A task that is in its group already must not be counted again. */
async function missingTasks(redis: Redis, tasks: TaskTexts): Promise<Effect[]> {
  const missing = await Promise.all(
    Object.entries(tasks).map(async ([id, { json, openedAtMs, group }]) => {
      const [text, place, placeInGroup] = await Promise.all([
        redis.hget(KEYS.tasks, id),
        redis.zscore(KEYS.openTasks, id),
        redis.zscore(taskGroupKey(group), id),
      ]);
      const effects: Effect[] = [];
      if (text !== json) effects.push(['HSET', KEYS.tasks, id, json]);
      if (place === null) effects.push(['ZADD', KEYS.openTasks, openedAtMs, id]);
      if (placeInGroup !== null) return effects;
      const inGroup: Effect[] = [
        ['ZADD', taskGroupKey(group), openedAtMs, id],
        ['ZINCRBY', taskGroupsKey, 1, group],
      ];
      return [...effects, ...inGroup];
    }),
  );
  return missing.flat();
}
