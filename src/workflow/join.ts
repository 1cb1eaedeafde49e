import type { ViolationRecord } from '../contracts/violations';
import { noteEvent, openTask, type StoredViolation } from '../domain/outbox-record';
import { isKnown } from '../domain/stored-tow';
import { joinTow } from '../domain/stored-violation';
import { violationTwiceTask, type NewTask } from '../domain/tasks';
import type { Tow } from '../domain/tow';
import { whereaboutsOf, type Violation } from '../domain/violation';
import { EVERY_TOW } from './list-port';
import type { TowStore } from './ports';
import { lineOfTow, type RecordStore, type Transaction } from './transaction-port';

/**
 * Tows and violations find each other: by the service's reference, else by the id in the metadata that the service
 * echoes. Whichever of the two is known first waits for the other.
 */
export interface JoinTools {
  readonly records: RecordStore;
  readonly tows: Pick<TowStore, 'list'>;
}

/** Tows of one violation that are looked at; there is one, or, should the service ask twice, two. */
const TOWS_MAX = 50;

/** A draft of the violation that a requested tow comes from; null when none is known. */
export async function findViolation(transaction: Transaction, tow: Tow): Promise<StoredViolation | null> {
  // Either the violation finds the tow when it gets its name, or the tow finds the violation.
  const named = await transaction.violationNamed(tow.violationReferenceId);
  const id = tow.metadata?.['id'];
  if (named || typeof id !== 'string' || id === '') return named;
  return transaction.violationCalled(id);
}

/** Notes on a violation that a tow comes from it. Returns the tow with what it tells, and what people must look at. */
export function joinRequested(
  transaction: Transaction,
  violation: StoredViolation,
  tow: Tow,
): { readonly tow: Tow; readonly tasks: readonly NewTask[] } {
  const { towingReferenceId: towingReference, violationReferenceId: reference } = tow;
  joinTow(violation, { towingReference, reference }, transaction.nowMs);
  transaction.nameViolation(reference, violation.id);
  // The vehicle is the same, whichever name the service asks by; but one violation has one name there.
  const shownAs = violation.reference ?? '';
  const names = [shownAs, reference] as const;
  const tasks = shownAs === reference ? [] : [violationTwiceTask({ id: violation.id, names })];
  return { tow: withViolation(tow, violation.violation), tasks };
}

/** A tow with what its violation tells. What the facts of the field have said since is left as it is. */
export function withViolation(tow: Tow, violation: Violation): Tow {
  const { zoneId, violationType, ...whereabouts } = whereaboutsOf(violation);
  const joined = { violationId: violation.id, zoneId, violationType };
  return tow.state === 'requested' ? { ...tow, ...joined, ...whereabouts } : { ...tow, ...joined };
}

/** Joins the tows that were requested before a name of their violation was known. */
export async function joinTows(
  tools: JoinTools,
  { violation, references }: Pick<ViolationRecord, 'violation' | 'references'>,
): Promise<void> {
  for (const reference of references) {
    const page = await tools.tows.list({ ...EVERY_TOW, search: reference, cursor: null, limit: TOWS_MAX });
    for (const { tow } of page.items) {
      if (tow.violationReferenceId !== reference || tow.violationId !== null) continue;
      await joinLate(tools.records, tow.towingReferenceId, violation.id);
    }
  }
}

/** Joins a tow that is there already, unless its name for the violation is that of another one. */
function joinLate(records: RecordStore, ref: string, violationId: string): Promise<void> {
  return records.transact(lineOfTow(ref), async (transaction) => {
    const draft = await transaction.tow(ref);
    if (!isKnown(draft) || draft.tow.violationId !== null) return;
    const owner = await transaction.violationNamed(draft.tow.violationReferenceId);
    const violation = await transaction.violation(violationId);
    if (!violation || (owner && owner.id !== violationId)) return;
    const { tow, tasks } = joinRequested(transaction, violation, draft.tow);
    draft.tow = tow;
    noteEvent(draft, { type: 'violation.joined', violation_id: violationId }, transaction.nowMs);
    for (const task of tasks) openTask(draft, task, transaction.nowMs);
  });
}
