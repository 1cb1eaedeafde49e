import type { Redis } from 'ioredis';
import type { Order } from '../contracts/paging';
import type { Task } from '../contracts/records';
import { EmptyTaskFilter, isEmptyFilter, type TaskCounts, type TaskFilter } from '../workflow/list-port';
import type { TaskStore } from '../workflow/ports';
import { KEYS, taskGroupKey, taskGroupsKey, towKey } from './keys';
import { taskOf } from './parse';
import { decodeTow } from './tow-fields';
import { byBytes, knownRows, mergedRows, pageOf, type Row, type Rows } from './rows';
import { groupOf, groupOfTask, inGroup } from './task-groups';

/** What people must decide, as lists and pages read it. */
export function createTaskStore(redis: Redis): TaskStore {
  const readMany = (ids: readonly string[]) => readTasks(redis, ids);
  return {
    read: async (id) => (await readMany([id]))[0] ?? null,
    readMany,

    async list({ cursor, limit, order = 'newest', filter = {} }) {
      const { refs: ids, nextCursor } = await pageOf(await rowsFor(redis, filter, order), { cursor, limit });
      return { items: await readMany(ids), nextCursor };
    },

    counts: () => countTasks(redis),
    count: () => redis.zcard(KEYS.openTasks),

    async ids(filter, max) {
      if (isEmptyFilter(filter)) throw new EmptyTaskFilter();
      const rows = await rowsFor(redis, filter, 'oldest');
      return (await rows(null, max)).map(({ ref }) => ref);
    },
  };
}

async function readTasks(redis: Redis, ids: readonly string[]): Promise<Task[]> {
  if (ids.length === 0) return [];
  const [jsons, scores] = await Promise.all([redis.hmget(KEYS.tasks, ...ids), redis.zmscore(KEYS.openTasks, ...ids)]);
  return jsons.flatMap((json, at) => {
    const openedAtMs = scores[at] ?? null;
    return json === null || openedAtMs === null ? [] : [taskOf(json, openedAtMs)];
  });
}

/** The tasks that a filter names: those of a tow, else those of the groups it names, else all. */
async function rowsFor(redis: Redis, filter: TaskFilter, order: Order): Promise<Rows> {
  const { towingReferenceId, type, kind } = filter;
  if (towingReferenceId !== undefined) return rowsOfTow(redis, { ...filter, towingReferenceId }, order);
  if (type === undefined && kind === undefined) return mergedRows(redis, [KEYS.openTasks], order);
  const groups = (await redis.zrange(taskGroupsKey, '0', '-1')).filter((name) => inGroup(groupOf(name), filter));
  return mergedRows(redis, groups.map(taskGroupKey), order);
}

/** A tow has a handful of tasks: they are read to see which of them are meant. */
async function rowsOfTow(
  redis: Redis,
  filter: TaskFilter & { readonly towingReferenceId: string },
  order: Order,
): Promise<Rows> {
  const { tasks: open } = decodeTow(filter.towingReferenceId, await redis.hgetall(towKey(filter.towingReferenceId)));
  const tasks = await readTasks(redis, Object.keys(open));
  const meant = tasks.filter((task) => inGroup(groupOfTask(task), filter));
  const rowOf = ({ id, opened_at = '' }: Task): Row => ({
    ref: id,
    place: { score: Date.parse(opened_at), member: id },
  });
  return knownRows(meant.map(rowOf), order);
}

async function countTasks(redis: Redis): Promise<TaskCounts> {
  const [total, names] = await Promise.all([redis.zcard(KEYS.openTasks), redis.zrange(taskGroupsKey, '0', '-1')]);
  const groups = await Promise.all(
    names.toSorted(byBytes).map(async (name) => ({ ...groupOf(name), count: await redis.zcard(taskGroupKey(name)) })),
  );
  const open = groups.filter(({ count }) => count > 0);
  const types = [...new Set(open.map(({ type }) => type))].map((type) => {
    const ofType = open.filter((group) => group.type === type);
    return {
      type,
      count: ofType.reduce((sum, { count }) => sum + count, 0),
      kinds: ofType.flatMap(({ kind, count }) => (kind === null ? [] : [{ kind, count }])),
    };
  });
  return { total, types };
}
