import type { TowRecord } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';
import { searchTerms } from '../domain/search';
import { violationTwiceTask, type NewTask } from '../domain/tasks';
import type { Tow } from '../domain/tow';
import { whereaboutsOf, type Violation } from '../domain/violation';
import { EVERY_TOW } from './list-port';
import type { TowStore } from './ports';
import { untilFresh } from './retry-stale';
import { noChange } from './tow-change';
import type { ViolationStore } from './violation-port';

/**
 * Tows and violations find each other: by the service's reference, else by the id in the metadata that the service
 * echoes. Whichever of the two is known first waits for the other.
 */
export interface JoinTools {
  readonly tows: Pick<TowStore, 'read' | 'list' | 'save'>;
  readonly violations: Pick<ViolationStore, 'find' | 'joined'>;
}

/** Tows of one violation that are looked at; there is one, or, should the service ask twice, two. */
const TOWS_MAX = 50;

/** A violation that a tow comes from, and what people must look at because of that. */
export interface Join {
  readonly violation: Violation;
  readonly tasks: readonly NewTask[];
}

/** The violation a requested tow comes from, null when none is known. Its link is stored, and with it the proof. */
export async function violationOf(tow: Tow, violations: JoinTools['violations']): Promise<Join | null> {
  const id = tow.metadata?.['id'];
  const metadataId = typeof id === 'string' && id !== '' ? id : null;
  const found = await violations.find({ reference: tow.violationReferenceId, metadataId });
  return found && join(tow, found.violation, violations);
}

/** Null when the violation is gone, or the name that the tow has for it is another one's. */
async function join(tow: Tow, violation: Violation, violations: JoinTools['violations']): Promise<Join | null> {
  const { towingReferenceId: towingReference, violationReferenceId: reference } = tow;
  const joined = await violations.joined(violation.id, { towingReference, reference });
  if (joined.kind !== 'joined') return null;
  // The vehicle is the same, whichever name the service asks by; but one violation has one name there.
  const isTwice = joined.shownAs !== reference;
  const names = [joined.shownAs, reference] as const;
  return { violation, tasks: isTwice ? [violationTwiceTask({ id: violation.id, names })] : [] };
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
      await untilFresh(() => joinTow(tools, tow.towingReferenceId, violation));
    }
  }
}

async function joinTow(
  { tows, violations }: JoinTools,
  ref: string,
  violation: Violation,
): Promise<'joined' | 'not_ours' | 'stale'> {
  const record = await tows.read(ref);
  if (!record || record.tow.violationId !== null) return 'joined';
  const found = await join(record.tow, violation, violations);
  if (!found) return 'not_ours';
  const saved = await tows.save(record, { ...joinChange(record, violation), openTasks: found.tasks });
  return saved.kind === 'saved' ? 'joined' : 'stale';
}

/** What joining changes on a tow that is there already. */
export function joinChange({ tow }: Pick<TowRecord, 'tow'>, violation: Violation) {
  const joined = withViolation(tow, violation);
  return {
    ...noChange(joined),
    timeline: [{ type: 'violation.joined', violation_id: violation.id }],
    searchTerms: searchTerms(joined),
  };
}
