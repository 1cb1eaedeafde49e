import type { TaskType } from '../../domain/tasks';
import type { PausableOperation } from '../../domain/vocabulary';
import { taskTypesAr } from './task-types-ar';
import { taskTypesEn } from './task-types-en';

/** What a person must decide, by what happened: the name of the kind, what happened, and what helps. */
export interface TaskTypeWords {
  /** On a chip, of many. */
  readonly chip: string;
  /** `it`: the name of the report or the operation where there is one. */
  readonly title: (it: string) => string;
  readonly advice: string;
}

export interface TaskTypes {
  readonly types: Readonly<Record<TaskType, TaskTypeWords>>;
  /** Of a type that a newer towhook made. */
  readonly other: TaskTypeWords;
  readonly kinds: Readonly<Record<PausableOperation, string>>;
}

export const taskTypes: { readonly en: TaskTypes; readonly ar: TaskTypes } = { en: taskTypesEn, ar: taskTypesAr };
