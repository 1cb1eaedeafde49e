import type { Redis } from 'ioredis';
import { releaseSlice } from './circuits';
import { differenceToRelease, documentOrNull, isStill, releasedDifference, untilIn } from './differences';
import { recordInMember } from './differing-members';
import { differenceKey, differingKey, KEYS } from './keys';
import { scheduleOf } from './record-kinds';
import { recordsOf } from './records';
import { redisTimeMs } from './redis-time';

/** What schedulers do for records that a closed circuit has blocked, or that wait for the decision on a difference. */

/** Members of a decided difference that one run of a scheduler releases, and those with the score of the last one. */
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
async function releaseDifference(redis: Redis, differenceId: string): Promise<void> {
  const json = await redis.hget(differenceKey(differenceId), 'document');
  // A process that can read the decision releases its records.
  if (json !== null && !documentOrNull(json)) return;
  const until = untilIn(json);
  const untilScore = until === Infinity ? '+inf' : String(until);
  const [, lastScore] = await redis.zrange(
    differingKey(differenceId),
    '-inf',
    untilScore,
    'BYSCORE',
    'LIMIT',
    String(DECIDED_PER_RUN - 1),
    '1',
    'WITHSCORES',
  );
  const upTo = lastScore ?? untilScore;
  const members = await redis.zrange(differingKey(differenceId), '-inf', upTo, 'BYSCORE');
  if (members.length > 0) {
    const nowMs = await redisTimeMs(redis);
    const pipeline = redis.pipeline();
    for (const member of members) {
      const [schedule, id] = scheduleOf(recordInMember(member));
      pipeline.zadd(schedule, 'LT', nowMs, id);
    }
    for (const [failed] of (await pipeline.exec()) ?? []) if (failed) throw failed;
    // By score, because a report may be accepted again meanwhile, after the decision: its new entry must stay. An entry
    // that joins with a score from before the decision may go, because its record is due until a claim confirms it.
    await redis.zremrangebyscore(differingKey(differenceId), '-inf', upTo);
  }
  if (lastScore !== undefined) return;
  // The document is checked, so that a decision made meanwhile is released too.
  const checks = [isStill(differenceId, json ?? '')];
  const effects = [['SREM', KEYS.releasing, releasedDifference(differenceId)]] as const;
  await recordsOf(redis).commit({ records: [], checks, effects }, { whenFull: true });
}
