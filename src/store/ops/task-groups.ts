import type { Task } from '../../contracts/outbox/records';
import { kindOfReport } from '../../domain/tow/stored-tow';
import { ENTRY_KINDS, type EntryKind } from '../../domain/vocabulary';
import type { TaskFilter } from '../../workflow/list-port';

/** A group of open tasks: their type, and the kind of report or the operation that they concern, if any. */
export interface TaskGroup {
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
export function groupNameOf(task: Pick<Task, 'type' | 'report_id' | 'operation'>): string {
  const { type, kind } = groupOfTask(task);
  return kind === null ? type : `${type}.${kind}`;
}

/** True if the group matches every given field of the filter. */
export function inGroup(group: TaskGroup, { type, kind }: TaskFilter): boolean {
  return (type === undefined || group.type === type) && (kind === undefined || group.kind === kind);
}
