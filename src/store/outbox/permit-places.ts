import type { Redis } from 'ioredis';
import type { QueuePlace } from '../../domain/outbox/waiting';
import type { RateLimit } from '../service/budgets';
import { budgetStateField, KEYS } from '../keys';
import { texts } from '../redis/parse';
import { RECORD_KEYS } from './record-kinds';
import { Script } from '../scripts';
import { recordIdOf, type OutboxRecord, type RecordKind } from '../../domain/outbox/outbox-record';
import { isWaitingForPermit } from '../../domain/outbox/outbox-schedule';
import type { AsRead } from '../../workflow/outbox/read-record';

const readPermitQueue = new Script('read-permit-queue');

/**
 * Returns the places of members in the waiting queue of the rate limit, and when they get their permits if those before
 * them take theirs. Members that do not wait are missing. One read for all; none without members.
 */
export async function permitPlaces(
  redis: Redis,
  kind: RecordKind,
  { limit, windowMs }: RateLimit,
  members: readonly string[],
): Promise<ReadonlyMap<string, QueuePlace>> {
  const places = new Map<string, QueuePlace>();
  if (members.length === 0) return places;
  const { budget, permits, permitQueue } = RECORD_KEYS[kind];
  const args = [limit, windowMs, budgetStateField(budget), ...members];
  const reply = texts(
    await readPermitQueue.run(redis, [permits, permitQueue, KEYS.circuits], args),
    'read-permit-queue',
  );
  const [of = 0, closedUntilMs = 0, ...found] = reply.map(Number);
  members.forEach((member, at) => {
    const [place = 0, leavesAtMs = 0] = found.slice(2 * at);
    if (place === 0) return;
    places.set(member, { place, of, leavesAtMs, closedUntilMs: closedUntilMs === 0 ? null : closedUntilMs });
  });
  return places;
}

/** The records of one kind; with a rate limit, those that wait for it have their place. */
export async function withPlaces<R extends OutboxRecord>(
  redis: Redis,
  rateLimit: RateLimit | undefined,
  records: readonly AsRead<R>[],
): Promise<readonly AsRead<R>[]> {
  const waiting = records.filter(isWaitingForPermit);
  const [first] = waiting;
  if (!first || !rateLimit) return records;
  const places = await permitPlaces(redis, first.kind, rateLimit, waiting.map(recordIdOf));
  return records.map((record) => ({ ...record, queue: places.get(recordIdOf(record)) ?? null }));
}
