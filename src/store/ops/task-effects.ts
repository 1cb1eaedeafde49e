import type { OpenTask, OutboxRecord } from '../../domain/outbox/outbox-record';
import type { Effect } from '../redis/commit';
import { KEYS, taskGroupKey, taskGroupsKey } from '../keys';
import type { Task } from '../../contracts/outbox/records';
import { kindOfReport } from '../../domain/tow/stored-tow';
import { ENTRY_KINDS, type EntryKind } from '../../domain/vocabulary';
import type { TaskFilter } from '../../workflow/list-port';

/** The open tasks in their lists: their texts, when they were opened, and the groups that count them. */

/** The stored form of tasks, by id. */
export type TaskTexts = Readonly<
  Record<string, { readonly json: string; readonly openedAtMs: number; readonly group: string }>
>;

/** The tasks of a record in their stored form; none for null. */
export function tasksOf(record: OutboxRecord | null): TaskTexts {
  if (!record) return {};
  return taskTexts(record.tasks, record.kind === 'tow' ? { towing_reference_id: record.ref } : {});
}

/** The stored form of open tasks. Each contains `about`. */
export function taskTexts(
  tasks: Readonly<Record<string, OpenTask>>,
  about: { towing_reference_id?: string },
): TaskTexts {
  return Object.fromEntries(
    Object.entries(tasks).map(([id, { task, openedAtMs }]) => {
      const whole = { id, ...task, type: task.type.toString(), ...about };
      return [id, { json: JSON.stringify(whole), openedAtMs, group: groupNameOf(whole) }];
    }),
  );
}

/**
 * Writes the difference between the tasks of one record, or of the circuits, before and after a change. Groups are
 * counted by it too, so `before` must be what is stored.
 */
export function taskEffects(before: TaskTexts, after: TaskTexts): Effect[] {
  const effects: Effect[] = [];
  for (const [id, { group }] of Object.entries(before)) {
    if (after[id]?.group !== group) effects.push(['ZREM', taskGroupKey(group), id], ...oneLess(taskGroupsKey, group));
    if (!after[id]) effects.push(['HDEL', KEYS.tasks, id], ['ZREM', KEYS.openTasks, id]);
  }
  for (const [id, { json, openedAtMs, group }] of Object.entries(after)) {
    const known = before[id];
    if (known?.json !== json) effects.push(['HSET', KEYS.tasks, id, json]);
    if (!known) effects.push(['ZADD', KEYS.openTasks, openedAtMs, id]);
    if (known?.group !== group) effects.push(...joinGroup(id, group, openedAtMs));
  }
  return effects;
}

/** Lists a task in its group, and counts it there. */
export function joinGroup(id: string, group: string, openedAtMs: number): Effect[] {
  return [
    ['ZADD', taskGroupKey(group), openedAtMs, id],
    ['ZINCRBY', taskGroupsKey, 1, group],
  ];
}

/** Decrements a counter and removes it at zero. */
export function oneLess(key: string, name: string): Effect[] {
  return [
    ['ZINCRBY', key, -1, name],
    ['ZREMRANGEBYSCORE', key, '-inf', 0],
  ];
}

/** A group of open tasks: their type, and the kind of report or the operation that they concern, if any. */
interface TaskGroup {
  readonly type: string;
  readonly kind: EntryKind | null;
}

/** A group by its stored name, `<type>` or `<type>.<kind>`. */
export function groupOf(name: string): TaskGroup {
  const dot = name.lastIndexOf('.');
  const kind = ENTRY_KINDS.find((known) => known === name.slice(dot + 1)) ?? null;
  return dot === -1 || kind === null ? { type: name, kind: null } : { type: name.slice(0, dot), kind };
}

export function groupOfTask({ type, report_id, operation }: Pick<Task, 'type' | 'report_id' | 'operation'>): TaskGroup {
  return { type, kind: kindOfReport(report_id) ?? operation ?? null };
}

/** The stored name of the group of a task. */
function groupNameOf(task: Pick<Task, 'type' | 'report_id' | 'operation'>): string {
  const { type, kind } = groupOfTask(task);
  return kind === null ? type : `${type}.${kind}`;
}

/** True if the group matches every given field of the filter. */
export function inGroup(group: TaskGroup, { type, kind }: TaskFilter): boolean {
  return (type === undefined || group.type === type) && (kind === undefined || group.kind === kind);
}
