import type { Redis } from 'ioredis';
import type { Order } from '../contracts/paging';
import type { Task } from '../contracts/records';
import { EmptyTaskFilter, isEmptyFilter, type TaskCounts, type TaskFilter } from '../workflow/list-port';
import type { TaskStore } from '../workflow/ports';
import { KEYS, taskGroupKey, taskGroupsKey, towTasksKey, violationKeys } from './keys';
import { taskOf } from './parse';
import { byBytes, knownRows, mergedRows, pageOf, type Row, type Rows } from './rows';
import { savedOf } from './saved';
import { Script } from './scripts';
import { groupOf, groupOfTask, inGroup } from './task-groups';
import { wellFormedJson } from './well-formed';

const resolveTask = new Script('resolve-task');

/** What people must decide. Tasks are opened by the scripts that find them necessary, never here. */
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

    async resolve(task, { audit, remember }) {
      const ref = task.towing_reference_id ?? '';
      const entry = { type: audit.action, task_type: task.type, by: audit.by, reason: audit.why };
      const violationId = task.violation_id ?? '';
      const keys = violationKeys(violationId, { ref, ...(remember ? { idempotencyScope: remember.scope } : {}) });
      const reply = await resolveTask.run(redis, keys, [
        ref,
        task.id,
        wellFormedJson(entry),
        remember?.fingerprint ?? '',
        remember?.answer ?? '',
        wellFormedJson(audit),
        violationId,
      ]);
      return savedOf(reply, 'resolve-task');
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
  const groups = (await redis.smembers(taskGroupsKey)).filter((name) => inGroup(groupOf(name), filter));
  return mergedRows(redis, groups.map(taskGroupKey), order);
}

/** A tow has a handful of tasks: they are read to see which of them are meant. */
async function rowsOfTow(
  redis: Redis,
  filter: TaskFilter & { readonly towingReferenceId: string },
  order: Order,
): Promise<Rows> {
  const tasks = await readTasks(redis, await redis.smembers(towTasksKey(filter.towingReferenceId)));
  const meant = tasks.filter((task) => inGroup(groupOfTask(task), filter));
  const rowOf = ({ id, opened_at = '' }: Task): Row => ({
    ref: id,
    place: { score: Date.parse(opened_at), member: id },
  });
  return knownRows(meant.map(rowOf), order);
}

async function countTasks(redis: Redis): Promise<TaskCounts> {
  const [total, names] = await Promise.all([redis.zcard(KEYS.openTasks), redis.smembers(taskGroupsKey)]);
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
