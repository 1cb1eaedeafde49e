import type { Task } from '../../contracts/outbox/records';
import type { TowStore, ViolationStore } from '../ports';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import type { KnownTow } from '../../domain/tow/stored-tow';
import type { AsRead } from '../outbox/read-record';

/** What a task is about. Null also for a record that this process cannot use: its task stays in the list. */
export interface TaskSubjects {
  readonly tow: AsRead<KnownTow> | null;
  readonly violation: AsRead<StoredViolation> | null;
}

/** Reads what tasks are about, each record once. Returns a function that finds it for a task. */
export async function subjectsOf(
  tasks: readonly Task[],
  stores: { readonly tows: Pick<TowStore, 'listByRefs'>; readonly violations: Pick<ViolationStore, 'listByIds'> },
): Promise<(task: Task) => TaskSubjects> {
  const refs = new Set(tasks.flatMap(({ towing_reference_id: ref }) => ref ?? []));
  const ids = new Set(tasks.flatMap(({ violation_id: id }) => id ?? []));
  const [tows, violations] = await Promise.all([
    stores.tows.listByRefs([...refs]),
    stores.violations.listByIds([...ids]),
  ]);
  const towBy = new Map(tows.map((record): [string, AsRead<KnownTow>] => [record.ref, record]));
  const violationBy = new Map(violations.map((record) => [record.id, record]));
  return ({ towing_reference_id: ref, violation_id: id }) => ({
    tow: towBy.get(ref ?? '') ?? null,
    violation: violationBy.get(id ?? '') ?? null,
  });
}
