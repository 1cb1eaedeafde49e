import type { Redis } from 'ioredis';
import { listedKind } from '../contracts/replies';
import { TOW_STATES } from '../domain/vocabulary';
import { KEYS, taskGroupKey, taskGroupsKey, towKeys, towsInStateKey, towsSinceKey } from './keys';
import { listedBy } from './listed';
import { towRecord } from './parse';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const readTow = new Script('read-tow');
const listTow = new Script('list-tow');
const groupTasks = new Script('group-tasks');

/** Rows that are looked at, or written, together. */
const STEP = 500;

/**
 * Lists what an earlier version wrote, which knew fewer lists: tows by their crew, by what they owe and since when they
 * are in their state, tasks by what they ask. Says how many of each lacked that; none, once it was done. Whatever this
 * version writes lists itself. It may be stopped, and begins with what is left the next time.
 */
export async function listOldRecords(
  redis: Redis,
  signal?: AbortSignal,
): Promise<{ readonly tows: number; readonly tasks: number }> {
  let tows = 0;
  const list = async (refs: readonly string[]) => {
    for (const ref of refs) {
      if (signal?.aborted === true) return;
      await listOldTow(redis, ref);
      tows += 1;
    }
  };
  for (const state of TOW_STATES) {
    await forEachStep(redis, towsInStateKey(state), async (refs) =>
      list(await absentFrom(redis, towsSinceKey(state), refs)),
    );
  }
  // Where an earlier version also put what is asked about tows that are not here.
  await forEachStep(redis, KEYS.attention, async (refs) => list(await absentFrom(redis, KEYS.indexTows, refs)));
  return { tows, tasks: signal?.aborted === true ? 0 : await groupOldTasks(redis) };
}

/** Reads the members of a sorted set, and works on them step by step. */
async function forEachStep(
  redis: Redis,
  key: string,
  step: (members: readonly string[]) => Promise<unknown>,
): Promise<void> {
  const members = await redis.zrange(key, '0', '-1');
  for (let from = 0; from < members.length; from += STEP) await step(members.slice(from, from + STEP));
}

async function absentFrom(redis: Redis, key: string, refs: readonly string[]): Promise<string[]> {
  const scores = await redis.zmscore(key, ...refs);
  return refs.filter((_ref, at) => scores[at] === null);
}

async function listOldTow(redis: Redis, ref: string): Promise<void> {
  let reply = 'stale';
  while (reply === 'stale') {
    const record = towRecord(await readTow.run(redis, towKeys(ref), []));
    const args = [ref, record?.version ?? '', record ? wellFormedJson(listedBy(record.tow)) : ''];
    reply = listedKind.parse(await listTow.run(redis, towKeys(ref), args));
  }
}

/** How many tasks stood in no group. */
async function groupOldTasks(redis: Redis): Promise<number> {
  const [open, names] = await Promise.all([redis.zcard(KEYS.openTasks), redis.smembers(taskGroupsKey)]);
  const counts = await Promise.all(names.map((name) => redis.zcard(taskGroupKey(name))));
  const missing = open - counts.reduce((sum, count) => sum + count, 0);
  if (missing <= 0) return 0;
  await forEachStep(redis, KEYS.openTasks, (ids) => groupTasks.run(redis, towKeys(''), ids));
  return missing;
}
