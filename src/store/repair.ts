import type { Redis } from 'ioredis';
import { takeBackFarAhead } from '../domain/conservation';
import type { OutboxRecord } from '../domain/outbox-record';
import { taskEffects, tasksOf } from './indexes';
import { deliveryKey, KEYS } from './keys';
import { recordsOf } from './records';

/** Repairs index entries that a record lacks, in commits that are only written on the version they were decided on. */

/** Puts a record back on the schedule and its open tasks back on the list, as the record says they should be. */
export async function repairRecord(redis: Redis, { kind, ...found }: OutboxRecord): Promise<void> {
  const name = 'ref' in found ? found.ref : found.id;
  await recordsOf(redis).transact(`${kind} ${name}`, async (transaction) => {
    const record = kind === 'tow' ? await transaction.tow(name) : await transaction.violation(name);
    if (!record || (record.kind === 'tow' && !record.tow)) return;
    takeBackFarAhead(record, transaction.nowMs);
    transaction.schedule(record);
    transaction.effect(...taskEffects({}, tasksOf(record)));
  });
}

/** Puts a delivery back on the schedule, and the open tasks of a tow that is not known yet back on the list. */
export async function repairDelivery(
  redis: Redis,
  { id, version, towingReferenceId }: { id: string; version: string; towingReferenceId: string },
): Promise<void> {
  const records = recordsOf(redis);
  const nowMs = await records.nowMs();
  await records.commit({
    records: [{ key: deliveryKey(id), expected: version }],
    effects: [['ZADD', KEYS.dueDeliveries, nowMs, id]],
  });
  await records.transact(`tow ${towingReferenceId}`, async (transaction) => {
    const record = await transaction.tow(towingReferenceId);
    if (!record.tow) transaction.effect(...taskEffects({}, tasksOf(record)));
  });
}
