import type { Redis } from 'ioredis';
import { headOf, isEntrySettled, ENTRY_POLICY } from '../domain/entry';
import type { OutboxRecord } from '../domain/outbox-record';
import { budgetKey, KEYS } from './keys';
import { texts } from './parse';
import { recordsOf } from './records';
import { Script } from './scripts';
import { mayPass } from './until-answered';

const takePermit = new Script('take-permit');

/** Calls that all records of a kind together may make in any window; limit 0 = any number. */
export interface RateLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** Later kinds of reports wait so much longer for a permit than those that tell where a vehicle is. */
const LATER_BY_MS = 600_000;

/** The log of granted permits of each kind of record, the line for them, and the schedule. */
export const PLACES = {
  tow: { log: budgetKey('tow'), line: KEYS.slotWaiting, due: KEYS.dueTows },
  violation: { log: budgetKey('violations'), line: KEYS.violationSlotWaiting, due: KEYS.dueViolations },
} as const;

/** Takes a permit for a record, or a place in the line. To `look` takes none and keeps the place. */
export async function permitFor(
  redis: Redis,
  record: OutboxRecord,
  { limit, windowMs }: RateLimit,
  { nowMs, how }: { readonly nowMs: number; readonly how: 'take' | 'look' },
): Promise<{ grantedAtMs: number } | { waitUntilMs: number }> {
  const { log, line } = PLACES[record.kind];
  const args = [record.kind === 'tow' ? record.ref : record.id, rankOf(record, nowMs), limit, windowMs, how];
  const [isGranted, atMs] = texts(await takePermit.run(redis, [log, line], args), 'take-permit');
  return isGranted === '1' ? { grantedAtMs: Number(atMs) } : { waitUntilMs: Number(atMs) };
}

/**
 * Gives a permit back that no call used: the first in line may have it. Best effort, since what was decided with the permit is
 * stored already; one that is not given back is free after its window.
 */
export async function givePermitBack(redis: Redis, kind: OutboxRecord['kind'], grantedAtMs: number): Promise<void> {
  const { log, line, due } = PLACES[kind];
  try {
    await redis.lrem(log, 1, String(grantedAtMs));
    const [first] = await redis.zrange(line, '0', '0');
    if (first !== undefined) await redis.zadd(due, 'XX', 'LT', await recordsOf(redis).nowMs(), first);
  } catch (error) {
    if (!mayPass(error)) throw error;
  }
}

/** Violations in the order in which they were reported; of tows first those that tell where a vehicle is. */
function rankOf(record: OutboxRecord, nowMs: number): number {
  if (record.kind === 'violation') return headOf(record.entries)?.createdAtMs ?? nowMs;
  const isUrgent = record.entries.some((entry) => !isEntrySettled(entry) && ENTRY_POLICY[entry.kind].isUrgent);
  return isUrgent ? nowMs : nowMs + LATER_BY_MS;
}
