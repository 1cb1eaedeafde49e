import type { Task, TowRecord } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';
import { reportOfTask } from './tow-view';
import { violationViewOf } from './violation-view';

/** A task as the API shows it: with the report or the violation it is about. */
export type TaskView = ReturnType<typeof taskViewOf>;

export function taskViewOf(
  task: Task,
  about: { readonly tow: TowRecord | null; readonly violation: ViolationRecord | null },
) {
  return {
    ...task,
    report: task.report_id === undefined || !about.tow ? null : reportOfTask(about.tow, task.report_id),
    violation: about.violation && violationViewOf(about.violation),
  };
}
