import type { Redis } from 'ioredis';
import { storedDelivery } from '../../domain/webhook/delivery';
import { checkDelivery, parkedTaskId, type CheckedItem } from '../../domain/ops/conservation';
import { timestampOf, repliesOf, readTogether } from '../redis/batch-reads';
import { deliveryKey, differingDeliveriesKey, KEYS, towKey } from '../keys';
import { repairDelivery } from './repair';

/** The part of a delivery that the conservation check reads. */
const checkedDelivery = storedDelivery.pick({
  version: true,
  state: true,
  towingReferenceId: true,
  verdict: true,
  processedAtMs: true,
  differenceId: true,
});
const NAMES = Object.keys(checkedDelivery.shape);
const FIELDS = NAMES.map((name) => (name === 'version' ? 'v' : name));

/** Checks deliveries; one item each, in their order. See check-entries.ts. */
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
        scheduledAtMs: timestampOf(scheduled[at]),
        isTaskListed: () => false,
        towingReferenceId: ref,
        isTowThere: areTowsThere[at] === 1,
        isTowArchived: false,
        isParkedAtTow: false,
        isDifferenceListed: false,
      });
      if (first.state !== 'lost') return [first];
      return confirm(redis, { id, ref, nowMs, differenceId: delivery?.differenceId ?? null });
    }),
  );
  return items.flat();
}

/** Reads a delivery, its index entries and its tow at one instant, checks again, and repairs what can be repaired. */
async function confirm(
  redis: Redis,
  { id, ref, nowMs, differenceId }: { id: string; ref: string; nowMs: number; differenceId: string | null },
): Promise<CheckedItem[]> {
  const [place, row, scheduled, head, parked, archived, json, opened, differing] = await readTogether(redis, [
    ['ZSCORE', KEYS.indexDeliveries, id],
    ['HMGET', deliveryKey(id), ...FIELDS],
    ['ZSCORE', KEYS.dueDeliveries, id],
    ['HEXISTS', towKey(ref), 'state'],
    ['HEXISTS', towKey(ref), `w:${id}`],
    ['ZSCORE', KEYS.archivedMarkers, ref],
    ['HGET', KEYS.tasks, parkedTaskId(ref)],
    ['ZSCORE', KEYS.openTasks, parkedTaskId(ref)],
    ['ZSCORE', differingDeliveriesKey(differenceId ?? ''), id],
  ]);
  // Archived meanwhile.
  if (typeof place !== 'string') return [];
  const delivery = deliveryOf(row);
  // It was judged again meanwhile, and differs in another way.
  if (delivery?.state === 'differs' && delivery.differenceId !== differenceId) {
    return confirm(redis, { id, ref, nowMs, differenceId: delivery.differenceId });
  }
  const item = checkDelivery(id, delivery, {
    nowMs,
    scheduledAtMs: timestampOf(scheduled),
    isTaskListed: () => typeof json === 'string' && typeof opened === 'string',
    towingReferenceId: ref,
    isTowThere: head === 1,
    isTowArchived: typeof archived === 'string',
    isParkedAtTow: parked === 1,
    isDifferenceListed: typeof differing === 'string',
  });
  if (item.isRepairable && delivery) await repairDelivery(redis, { id, receivedAtMs: Number(place), ...delivery });
  return [item];
}

function deliveryOf(row: unknown) {
  const values: readonly unknown[] = Array.isArray(row) ? row : [];
  const named = Object.fromEntries(NAMES.map((name, at) => [name, values[at] ?? undefined]));
  return checkedDelivery.safeParse(named).data ?? null;
}
