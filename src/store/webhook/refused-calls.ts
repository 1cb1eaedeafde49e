import type { Redis } from 'ioredis';
import { refusedCall } from '../../contracts/webhook/refused-calls';
import { jsonText } from '../../domain/stored';
import { DAY_MS, isoTimestamp } from '../../domain/timestamp';
import { sha256Hex } from '../../platform/hash';
import type { RefusedCallStore } from '../../workflow/webhook/webhook-port';
import { KEYS, refusedCallsKey } from '../keys';
import { redisTimeMs } from '../redis/redis-time';
import { Script } from '../scripts';

const keepRefused = new Script('keep-refused');

/** At most 5 calls of each of 12 sources per reason: 840 in all, about 1 KB each. */
const CALLS_PER_GROUP = 5;
const GROUPS_PER_REASON = 12;
const KEPT_MS = DAY_MS;

/** The newest refused calls to receivers (lua/keep-refused.lua). */
export function createRefusedCallStore(redis: Redis): RefusedCallStore {
  return {
    async keep(calls) {
      const args = calls.flatMap((call) => [call.reason, sha256Hex(call.source).slice(0, 16), JSON.stringify(call)]);
      const keys = [KEYS.refusedGroups, KEYS.refusedCalls];
      await keepRefused.run(redis, keys, [CALLS_PER_GROUP, GROUPS_PER_REASON, KEPT_MS, ...args]);
    },

    async list(limit) {
      const groups = await redis.zrevrange(KEYS.refusedGroups, 0, -1);
      const [nowMs, ...lists] = await Promise.all([
        redisTimeMs(redis),
        ...groups.map((group) => redis.lrange(refusedCallsKey(group), 0, -1)),
      ]);
      const oldest = isoTimestamp(nowMs - KEPT_MS);
      return lists
        .flat()
        .flatMap((json) => jsonText(refusedCall).safeParse(json).data ?? [])
        .filter(({ received_at: at }) => at > oldest)
        .toSorted((one, other) => other.received_at.localeCompare(one.received_at))
        .slice(0, limit);
    },
  };
}
