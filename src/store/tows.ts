import type { Redis } from 'ioredis';
import type { TowRecord } from '../contracts/records';
import type { TowStore } from '../workflow/ports';
import { towRecordOf } from '../workflow/tow-record';
import { crewsKey, towKey } from './keys';
import { countTows, listTows } from './list-tows';
import { recordsOf } from './records';
import { byBytes } from './rows';
import { decodeTow } from './tow-fields';

/** The tows in Redis, as lists and pages read them. */
export function createTowStore(redis: Redis): TowStore {
  const records = recordsOf(redis);
  const read = async (ref: string): Promise<TowRecord | null> => {
    const [fields, nowMs] = await Promise.all([redis.hgetall(towKey(ref)), records.nowMs()]);
    return towRecordOf(decodeTow(ref, fields), nowMs);
  };
  const listByRefs = async (refs: readonly string[]): Promise<TowRecord[]> => {
    const found = await Promise.all(refs.map(read));
    return found.filter((record) => record !== null);
  };
  return {
    read,
    listByRefs,
    list: (filter) => listTows(redis, filter, listByRefs),
    counts: (overdueAfter) => countTows(redis, overdueAfter),
    crews: async () => (await redis.zrangebyscore(crewsKey, 1, '+inf')).toSorted(byBytes),
  };
}
