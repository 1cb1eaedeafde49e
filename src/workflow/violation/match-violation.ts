import type { TowRequestMessage } from '../../contracts/webhook/read-webhook';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import { addEvent, closeTask, openTask, type StoredViolation } from '../../domain/outbox/outbox-record';
import { isKnown } from '../../domain/tow/stored-tow';
import { isOfAnother, matchTow } from '../../domain/violation/stored-violation';
import {
  movedTowTask,
  TWO_VIOLATIONS,
  twoViolationsTask,
  violationTwiceTask,
  type NewTask,
} from '../../domain/ops/tasks';
import type { Tow } from '../../domain/tow/tow';
import { echoedIdIn, metadataIdOf, towFieldsOf, type Violation } from '../../domain/violation/violation';
import { ALL_TOWS } from '../list-port';
import type { TowStore } from '../ports';
import { foundViolation, readOr } from '../outbox/read-record';
import { orderKeyOf, type RecordStore, type Transaction } from '../transaction-port';

/**
 * Matches tows and violations by the service's reference, else by the id in the metadata that the service echoes. The
 * one that is known first waits for the other.
 */
export interface MatchTools {
  readonly records: RecordStore;
  readonly tows: Pick<TowStore, 'list'>;
}

/** The most tows per violation that are read. Usually there is one, or two if the service requests twice. */
const TOWS_MAX = 50;

/** The violation that a requested tow comes from. */
export interface NamedViolation {
  /** A draft. */
  readonly violation: StoredViolation;
  /** The id in the metadata is its own. */
  readonly isEchoed: boolean;
  /** The id in the metadata, if it is that of another violation; else null. */
  readonly otherId: string | null;
}

/**
 * Finds the violation that a tow request names, or null. A damaged one counts as none: the tow must not wait for its
 * repair.
 */
export async function findViolation(
  transaction: Transaction,
  { violation_reference_id: reference, metadata }: Pick<TowRequestMessage, 'violation_reference_id' | 'metadata'>,
): Promise<NamedViolation | null> {
  const metadataId = echoedIdIn(metadata);
  // The reads are part of the commit: if the violation gets its reference meanwhile, the decision is made again.
  const [named, same] = await Promise.all([
    foundViolation(transaction.violationByReference(reference)),
    metadataId === null ? null : foundViolation(transaction.violationById(metadataId)),
  ]);
  const found = named ?? same;
  if (found === null || found === 'damaged') return null;
  const isEchoed = same !== null && same !== 'damaged' && same.id === found.id;
  return { violation: found, isEchoed, otherId: isOfAnother(same, found.id) ? metadataId : null };
}

/** Records on a violation that a tow comes from it. Returns the tow with the violation's fields, and tasks to open. */
export function matchRequestedTow(
  transaction: Transaction,
  { violation, isEchoed, otherId }: NamedViolation,
  tow: Tow,
): { readonly tow: Tow; readonly tasks: readonly NewTask[] } {
  const { towingReferenceId: towingReference, violationReferenceId: reference } = tow;
  matchTow(violation, { towingReference, reference, isEchoed }, transaction.nowMs);
  transaction.setReferenceOwner(reference, violation.id);
  // The vehicle is the same, but one violation should have one reference.
  const shownAs = violation.reference ?? '';
  const names = [shownAs, reference] as const;
  const tasks = shownAs === reference ? [] : [violationTwiceTask({ id: violation.id, names })];
  if (otherId !== null) tasks.push(twoViolationsTask({ id: violation.id, otherId, reference }));
  return { tow: withViolation(tow, violation.violation), tasks };
}

/** Adds the fields of its violation to a tow. Where and which vehicle: only until a fact recorded it. */
export function withViolation(tow: Tow, violation: Violation): Tow {
  const { zoneId, violationType, ...whereabouts } = towFieldsOf(violation);
  const matched = { violationId: violation.id, zoneId, violationType };
  return tow.state === 'requested' ? { ...tow, ...matched, ...whereabouts } : { ...tow, ...matched };
}

/** Gives the tows of a corrected violation its new fields. Damaged ones wait for their repair. */
export async function correctMatchedTows(transaction: Transaction, { id, tows, violation }: StoredViolation) {
  const drafts = await Promise.all(
    tows.slice(-TOWS_MAX).map((ref) => readOr(transaction.tow(ref), null, DamagedRecord)),
  );
  for (const draft of drafts) {
    if (draft && isKnown(draft) && draft.tow.violationId === id) draft.tow = withViolation(draft.tow, violation);
  }
}

/**
 * Prepares that the tows with a reference follow it to the violation to which the service assigned it, from the one to
 * which a person linked it. Tows that this process cannot use stay, so that the answer of the service can be stored.
 */
export async function towMover(
  transaction: Transaction,
  { reference, from, to }: { readonly reference: string; readonly from: StoredViolation; readonly to: StoredViolation },
): Promise<() => void> {
  const drafts = await Promise.all(
    from.tows.slice(-TOWS_MAX).map((ref) => readOr(transaction.tow(ref), null, UnusableRecord, DamagedRecord)),
  );
  return () => {
    for (const draft of drafts) {
      if (!draft || !isKnown(draft) || draft.tow.violationId !== from.id) continue;
      if (draft.tow.violationReferenceId !== reference) continue;
      from.tows = from.tows.filter((known) => known !== draft.ref);
      if (!to.tows.includes(draft.ref)) to.tows.push(draft.ref);
      const isOfFormer =
        draft.tow.state !== 'requested' || echoedIdIn(draft.tow.metadata) === metadataIdOf(from.violation);
      draft.tow = withViolation(draft.tow, to.violation);
      closeTask(draft, TWO_VIOLATIONS);
      if (isOfFormer) openTask(draft, movedTowTask({ id: to.id, formerId: from.id, reference }), transaction.nowMs);
      addEvent(draft, { type: 'violation.joined', violation_id: to.id }, transaction.nowMs);
    }
  };
}

/** Matches the tows that were requested before a reference of their violation was known. */
export async function matchEarlierTows(
  tools: MatchTools,
  { violation, references }: Pick<StoredViolation, 'violation' | 'references'>,
): Promise<void> {
  for (const reference of references) {
    await matchFound(tools, { search: reference, violationId: violation.id }, ({ violationReferenceId }) => {
      return violationReferenceId === reference;
    });
  }
}

/** The same, for a violation whose tow request may have come before towhook knew the id in its metadata. */
export async function matchTowsByMetadataId(tools: MatchTools, violation: Violation): Promise<void> {
  const id = metadataIdOf(violation);
  // Our own id is in no request that came before.
  if (id === violation.id) return;
  await matchFound(tools, { search: id, violationId: violation.id }, ({ metadata }) => metadata?.['id'] === id);
}

async function matchFound(
  { tows, records }: MatchTools,
  { search, violationId }: { readonly search: string; readonly violationId: string },
  isMatch: (tow: Tow) => boolean,
): Promise<void> {
  const page = await tows.list({ ...ALL_TOWS, search, cursor: null, limit: TOWS_MAX });
  for (const { tow } of page.items) {
    if (isMatch(tow) && tow.violationId === null) await matchLate(records, tow.towingReferenceId, violationId);
  }
}

/** Matches an existing tow, unless its reference belongs to another violation. */
function matchLate(records: RecordStore, ref: string, violationId: string): Promise<void> {
  return records.transact(orderKeyOf('tow', ref), async (transaction) => {
    const draft = await transaction.tow(ref);
    if (!isKnown(draft) || draft.tow.violationId !== null) return;
    const { violationReferenceId, metadata } = draft.tow;
    const named = await findViolation(transaction, { violation_reference_id: violationReferenceId, metadata });
    if (named?.violation.id !== violationId) return;
    const { tow, tasks } = matchRequestedTow(transaction, named, draft.tow);
    draft.tow = tow;
    addEvent(draft, { type: 'violation.joined', violation_id: violationId }, transaction.nowMs);
    for (const task of tasks) openTask(draft, task, transaction.nowMs);
  });
}
