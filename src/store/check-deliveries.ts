import type { Redis } from 'ioredis';
import { checkedDelivery } from '../contracts/conservation';
import { checkDelivery, parkedTaskId, type CheckedItem } from '../domain/conservation';
import { momentOf, repliesOf } from './chained';
import { deliveryKey, KEYS, towKey } from './keys';
import { readTogether } from './read-together';
import { repairDelivery } from './repair';

const FIELDS = ['v', 'state', 'towing_reference_id', 'verdict', 'processed_at'] as const;

/** The items of these deliveries, in their order; see check-entries.ts. */
export async function checkDeliveries(redis: Redis, ids: readonly string[], nowMs: number): Promise<CheckedItem[]> {
  const reading = redis.pipeline();
  for (const id of ids) reading.hmget(deliveryKey(id), ...FIELDS);
  const [rows, scheduled] = await Promise.all([repliesOf(reading), redis.zmscore(KEYS.dueDeliveries, ...ids)]);
  const deliveries = rows.map(deliveryOf);
  const asking = redis.pipeline();
  for (const delivery of deliveries) asking.hexists(towKey(delivery?.towingReferenceId ?? ''), 'state');
  const areTowsThere = await repliesOf(asking);
  const items = await Promise.all(
    ids.map(async (id, at) => {
      const delivery = deliveries[at] ?? null;
      const ref = delivery?.towingReferenceId ?? '';
      const first = checkDelivery(id, delivery, {
        nowMs,
        scheduledAtMs: momentOf(scheduled[at]),
        isTaskListed: () => false,
        towingReferenceId: ref,
        isTowThere: areTowsThere[at] === 1,
        isTowArchived: false,
        isParkedAtTow: false,
      });
      return first.state === 'lost' ? confirm(redis, { id, ref, nowMs }) : [first];
    }),
  );
  return items.flat();
}

/** Reads a delivery, its index entries and what its tow holds of it at one instant, decides, and repairs what can be repaired. */
async function confirm(
  redis: Redis,
  { id, ref, nowMs }: { id: string; ref: string; nowMs: number },
): Promise<CheckedItem[]> {
  const [place, row, scheduled, head, parked, archived, json, opened] = await readTogether(redis, [
    ['ZSCORE', KEYS.indexDeliveries, id],
    ['HMGET', deliveryKey(id), ...FIELDS],
    ['ZSCORE', KEYS.dueDeliveries, id],
    ['HEXISTS', towKey(ref), 'state'],
    ['HEXISTS', towKey(ref), `w:${id}`],
    ['ZSCORE', KEYS.tombstones, ref],
    ['HGET', KEYS.tasks, parkedTaskId(ref)],
    ['ZSCORE', KEYS.openTasks, parkedTaskId(ref)],
  ]);
  // Archived meanwhile.
  if (typeof place !== 'string') return [];
  const delivery = deliveryOf(row);
  const item = checkDelivery(id, delivery, {
    nowMs,
    scheduledAtMs: momentOf(scheduled),
    isTaskListed: () => typeof json === 'string' && typeof opened === 'string',
    towingReferenceId: ref,
    isTowThere: head === 1,
    isTowArchived: typeof archived === 'string',
    isParkedAtTow: parked === 1,
  });
  if (item.isRepairable && delivery) await repairDelivery(redis, { id, ...delivery });
  return [item];
}

function deliveryOf(row: unknown) {
  const values: readonly unknown[] = Array.isArray(row) ? row : [];
  const named = Object.fromEntries(
    FIELDS.map((name, at) => [name, values[at] ?? (name === 'processed_at' ? '' : null)]),
  );
  return checkedDelivery.safeParse(named).data ?? null;
}
