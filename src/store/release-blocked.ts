import type { Redis } from 'ioredis';
import { releaseSlice } from './circuits';
import { differenceToRelease, documentOrNull, isStill, releasedDifference, untilIn } from './differences';
import { recordInMember } from './differing-members';
import { differenceKey, differingKey, KEYS } from './keys';
import { scheduleOf } from './record-kinds';
import { recordsOf } from './records';
import { redisTimeMs } from './redis-time';

/** What schedulers do for records that a closed circuit has blocked, or that wait for the decision on a difference. */

/** Members of a decided difference that one run of a scheduler releases. */
const DECIDED_PER_RUN = 500;

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
    String(DECIDED_PER_RUN),
  );
  if (members.length > 0) {
    const nowMs = await redisTimeMs(redis);
    const pipeline = redis.pipeline();
    for (const member of members) {
      const [schedule, id] = scheduleOf(recordInMember(member));
      pipeline.zadd(schedule, 'LT', nowMs, id);
    }
    for (const [failed] of (await pipeline.exec()) ?? []) if (failed) throw failed;
    await redis.zrem(differingKey(id), ...members);
  }
  if (members.length === DECIDED_PER_RUN) return;
  // The document is checked, so that a decision made meanwhile is released too.
  const checks = [isStill(id, json ?? '')];
  const effects = [['SREM', KEYS.releasing, releasedDifference(id)]] as const;
  await recordsOf(redis).commit({ records: [], checks, effects }, { whenFull: true });
}
