import type { Redis } from 'ioredis';
import type { SortOrder } from '../../contracts/paging';
import type { TaskCounts } from '../../contracts/operator';
import { task, type Task } from '../../contracts/outbox/records';
import { jsonText } from '../../domain/stored';
import { EmptyTaskFilter, isEmptyFilter, type TaskFilter } from '../../workflow/list-port';
import type { TaskStore } from '../../workflow/ports';
import { orderKeyOf } from '../../workflow/transaction-port';
import { KEYS, taskGroupKey, taskGroupsKey, towKey } from '../keys';
import { decodeTow } from '../tow/tow-fields';
import { byBytes, knownRows, mergedRows, pageOf, type ListRow, type Rows } from '../outbox/rows';
import { groupOf, groupOfTask, inGroup } from './task-effects';
import type { NewTask } from '../../domain/ops/tasks';
import { recordsOf } from '../outbox/records';
import type { WriteOptions } from '../scripts';

/** The open tasks, for lists and pages. */
export function createTaskStore(redis: Redis): TaskStore {
  const readMany = (ids: readonly string[]) => readTasks(redis, ids);
  return {
    read: async (id) => (await readMany([id]))[0] ?? null,
    isStored: async (id) => (await redis.hexists(KEYS.tasks, id)) === 1,
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

const storedTask = jsonText(task);

/**
 * Null for a task whose text is damaged, for one of a later version with an action that this one does not know, and for
 * one that this process cannot decrypt: other processes list it.
 */
function knownTaskOf(json: string, openedAtMs: string): Task | null {
  const { data } = storedTask.safeParse(json);
  return data ? { ...data, opened_at: new Date(Number(openedAtMs)).toISOString() } : null;
}

async function readTasks(redis: Redis, ids: readonly string[]): Promise<Task[]> {
  if (ids.length === 0) return [];
  const [jsons, scores] = await Promise.all([redis.hmget(KEYS.tasks, ...ids), redis.zmscore(KEYS.openTasks, ...ids)]);
  return jsons.flatMap((json, at) => {
    const openedAtMs = scores[at] ?? null;
    return json === null || openedAtMs === null ? [] : (knownTaskOf(json, openedAtMs) ?? []);
  });
}

/** The tasks that match a filter: those of a tow, else those of its groups, else all. */
async function rowsFor(redis: Redis, filter: TaskFilter, order: SortOrder): Promise<Rows> {
  const { towingReferenceId, type, kind } = filter;
  if (towingReferenceId !== undefined) return rowsOfTow(redis, { ...filter, towingReferenceId }, order);
  if (type === undefined && kind === undefined) return mergedRows(redis, [KEYS.openTasks], order);
  const groups = (await redis.zrange(taskGroupsKey, '0', '-1')).filter((name) => inGroup(groupOf(name), filter));
  return mergedRows(redis, groups.map(taskGroupKey), order);
}

/** The few tasks of a tow are read and filtered. */
async function rowsOfTow(
  redis: Redis,
  filter: TaskFilter & { readonly towingReferenceId: string },
  order: SortOrder,
): Promise<Rows> {
  const { tasks: open } = decodeTow(filter.towingReferenceId, await redis.hgetall(towKey(filter.towingReferenceId)));
  const tasks = await readTasks(redis, Object.keys(open));
  const matching = tasks.filter((task) => inGroup(groupOfTask(task), filter));
  const rowOf = ({ id, opened_at = '' }: Task): ListRow => ({
    ref: id,
    place: { score: Date.parse(opened_at), member: id },
  });
  return knownRows(matching.map(rowOf), order);
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

/**
 * Opens a general task, which belongs to no record. Resolves with false when it is already open. `whenFull` is for tasks
 * that announce alarms and of which there is a fixed number.
 */
export function openGeneralTask(redis: Redis, task: NewTask, options: WriteOptions = {}): Promise<boolean> {
  const orderKey = orderKeyOf('task', task.subject);
  return recordsOf(redis).transact(orderKey, (transaction) => transaction.openGeneralTask(task), options);
}

/** Closes a general task. Resolves with false when it is not open. */
export function closeGeneralTask(redis: Redis, id: string): Promise<boolean> {
  const orderKey = orderKeyOf('task', id);
  return recordsOf(redis).transact(orderKey, (transaction) => transaction.closeGeneralTask(id), { whenFull: true });
}
