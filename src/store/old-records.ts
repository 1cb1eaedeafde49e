import type { Redis } from 'ioredis';
import { listedKind } from '../contracts/replies';
import { KEYS, taskGroupKey, taskGroupsKey, towKey, towKeys } from './keys';
import { listedBy } from './listed';
import { text, towRecord } from './parse';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const readTow = new Script('read-tow');
const listTow = new Script('list-tow');
const groupTasks = new Script('group-tasks');
const ungroupTasks = new Script('ungroup-tasks');

/** Rows that are looked at, or written, together. */
const STEP = 500;

/**
 * Lists what an earlier version wrote, which knew fewer lists: tows by their crew, by what they owe and since when they
 * are in their state, tasks by what they ask. Looks at each record, at two numbers of a tow and at the group of a task,
 * so that it also finds one that this version wrote first and an earlier one changed. Says how many of each were wrong;
 * none, once it was done. Whatever this version writes lists itself. It may be stopped, and begins with what is left the
 * next time.
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
  await forEachStep(redis, KEYS.indexTows, async (refs) => list(await unlistedOf(redis, refs)));
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

/** Those of which a version was written by somebody who knew nothing of these lists (`raise_version` of shared/tow.lua). */
async function unlistedOf(redis: Redis, refs: readonly string[]): Promise<string[]> {
  const marks = await Promise.all(refs.map((ref) => redis.hmget(towKey(ref), 'version', 'listed')));
  return refs.filter((_ref, at) => marks[at]?.[0] !== marks[at]?.[1]);
}

async function listOldTow(redis: Redis, ref: string): Promise<void> {
  let reply = 'stale';
  while (reply === 'stale') {
    const record = towRecord(await readTow.run(redis, towKeys(ref), []));
    const args = [ref, record?.version ?? '', record ? wellFormedJson(listedBy(record.tow)) : ''];
    reply = listedKind.parse(await listTow.run(redis, towKeys(ref), args));
  }
}

/** How many tasks stood in no group, or in one that was not theirs. */
async function groupOldTasks(redis: Redis): Promise<number> {
  let count = 0;
  await forEachStep(redis, KEYS.openTasks, async (ids) => {
    count += Number(text(await groupTasks.run(redis, towKeys(''), ids), 'group-tasks'));
  });
  for (const name of await redis.smembers(taskGroupsKey)) {
    await forEachStep(redis, taskGroupKey(name), async (ids) => {
      count += Number(text(await ungroupTasks.run(redis, towKeys(''), [name, ...ids]), 'ungroup-tasks'));
    });
  }
  return count;
}
