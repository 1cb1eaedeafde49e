import type { Redis } from 'ioredis';
import { releaseSlice } from './circuits';
import { differenceToRelease, documentOrNull, isStill, releasedDifference, untilIn } from './differences';
import { partsOfMember } from './differing-members';
import { differenceKey, differingKey, KEYS } from './keys';
import { recordsOf } from './records';
import { redisTimeMs } from './redis-time';

/** What schedulers do for records that a closed circuit has blocked, or that wait for the decision on a difference. */

const RELEASE_SLICE = 500;

/** Makes some of the members due that closed circuits and decided differences have. A scheduler calls it until none is left. */
export async function releaseBlocked(redis: Redis): Promise<void> {
  for (const name of await redis.smembers(KEYS.releasing)) {
    const differenceId = differenceToRelease(name);
    await (differenceId === null ? releaseSlice(redis, name) : releaseDifference(redis, differenceId));
  }
}

/**
 * Makes records due that were accepted with a kind before it was decided, so that their runs take the mark away. May be
 * repeated; removes the kind from the set when none is left.
 */
async function releaseDifference(redis: Redis, id: string): Promise<void> {
  const json = await redis.hget(differenceKey(id), 'document');
  // A process that can read the decision releases its records.
  if (json !== null && !documentOrNull(json)) return;
  const until = untilIn(json);
  const untilScore = until === Infinity ? '+inf' : String(until);
  const members = await redis.zrange(
    differingKey(id),
    '-inf',
    untilScore,
    'BYSCORE',
    'LIMIT',
    '0',
    String(RELEASE_SLICE),
  );
  if (members.length > 0) {
    const nowMs = await redisTimeMs(redis);
    const pipeline = redis.pipeline();
    for (const { towingReferenceId, violationId } of members.map(partsOfMember)) {
      if (violationId !== null) pipeline.zadd(KEYS.dueViolations, 'LT', nowMs, violationId);
      else if (towingReferenceId !== null) pipeline.zadd(KEYS.dueTows, 'LT', nowMs, towingReferenceId);
    }
    for (const [failed] of (await pipeline.exec()) ?? []) if (failed) throw failed;
    await redis.zrem(differingKey(id), ...members);
  }
  if (members.length === RELEASE_SLICE) return;
  // The document is checked, so that a decision made meanwhile is released too.
  const checks = [isStill(id, json ?? '')];
  const effects = [['SREM', KEYS.releasing, releasedDifference(id)]] as const;
  await recordsOf(redis).commit({ records: [], checks, effects }, { drains: true });
}
