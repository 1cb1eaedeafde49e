import { changeData, isChangeType, type ChangeData, type ChangeType, type TypedChange } from '../ops/changes';
import { ACCEPTED_HOW } from '../vocabulary';
import type { Entry } from './entry';
import type { OpenTask, OutboxRecord, StoredTow, StoredViolation } from './outbox-record';

/**
 * The changes that lead from one state of a tow or violation to the next. A lease and an attempt in flight are none, except
 * of a call that is not to be repeated: people see it as `sending`.
 */
export function changesOf(before: OutboxRecord | null, after: OutboxRecord): TypedChange[] {
  const changed = [
    ...(after.kind === 'tow'
      ? changesOfTow(before?.kind === 'tow' ? before : null, after)
      : changesOfViolation(before?.kind === 'violation' ? before : null, after)),
    ...after.entries.flatMap((entry) => changesOfEntry(before && entryOf(before, entry), entry)),
    ...taskChanges(before?.tasks ?? {}, after.tasks),
  ];
  if (changed.length > 0 || before === null || !isOtherwiseDifferent(before, after)) return changed;
  return [{ type: `${after.kind}.changed`, data: {} }];
}

/** The tasks that were opened and closed. */
export function taskChanges(
  before: Readonly<Record<string, OpenTask>>,
  after: Readonly<Record<string, OpenTask>>,
): TypedChange[] {
  const changesTo = (type: ChangeType, ids: readonly string[], tasks: Readonly<Record<string, OpenTask>>) =>
    ids.map((id) => ({ type, data: { task: tasks[id]?.task.type.toString() ?? '', task_id: id } }));
  const opened = Object.keys(after).filter((id) => !(id in before));
  const closed = Object.keys(before).filter((id) => !(id in after));
  return [...changesTo('task.opened', opened, after), ...changesTo('task.closed', closed, before)];
}

/** Events of the timeline that follow from facts and entries, of which there are changes too. */
const OF_FACTS_AND_ENTRIES: ReadonlySet<string> = new Set<ChangeType>([
  'fact.recorded',
  'report.accepted',
  'report.refused',
  'report.unknown',
  'report.waived',
]);

function changesOfTow(before: StoredTow | null, after: StoredTow): TypedChange[] {
  const events = after.events.filter((event) => before?.events.includes(event) !== true);
  const facts = after.tow?.facts.slice(before?.tow?.facts.length ?? 0) ?? [];
  return [
    ...events.flatMap(({ entry }): TypedChange[] => {
      const { type: name } = entry;
      const type = name === 'invoice.attached' ? 'invoice.received' : name;
      return typeof type === 'string' && isChangeType(type) && !OF_FACTS_AND_ENTRIES.has(type)
        ? [{ type, data: dataOf(entry) }]
        : [];
    }),
    ...facts.map(({ event }): TypedChange => ({ type: 'fact.recorded', data: { fact: event } })),
  ];
}

const EVENT_DATA = changeData.pick({
  report_id: true,
  violation_id: true,
  delivery_id: true,
  hold_id: true,
  crew: true,
});

function dataOf(entry: Readonly<Record<string, unknown>>): ChangeData {
  return EVENT_DATA.safeParse(entry).data ?? {};
}

function changesOfViolation(before: StoredViolation | null, after: StoredViolation): TypedChange[] {
  if (before === null) return [{ type: 'violation.recorded', data: {} }];
  const tows = after.tows.filter((ref) => !before.tows.includes(ref));
  return [
    ...(before.violation === after.violation ? [] : [{ type: 'violation.corrected', data: {} } as const]),
    ...tows.map((ref): TypedChange => ({ type: 'violation.towed', data: { towing_reference_id: ref } })),
  ];
}

function entryOf({ entries }: OutboxRecord, { seq }: Entry): Entry | null {
  return entries.find((entry) => entry.seq === seq) ?? null;
}

function changesOfEntry(before: Entry | null, after: Entry): TypedChange[] {
  if (before === after) return [];
  const last = after.log.at(-1);
  const isAttempted = last !== undefined && last.attempt_id !== before?.log.at(-1)?.attempt_id;
  const { kind, id, state } = after;
  const [owner, about]: ['violation' | 'report', ChangeData] =
    kind === 'violation' ? ['violation', {}] : ['report', { report: kind, report_id: id }];
  const data = { ...about, ...(isAttempted ? { http_status: last.http_status ?? null } : {}) };
  const isAnswered = kind === 'invoice' && after.answer !== null && before?.answer === null;
  const more: TypedChange[] = isAnswered ? [{ type: 'invoice.answered', data: { report_id: id } }] : [];
  if (state !== before?.state) {
    switch (state) {
      case 'accepted': {
        const how = ACCEPTED_HOW.find((name) => name === after.acceptedHow);
        return [{ type: `${owner}.accepted`, data: how ? { ...data, how } : data }, ...more];
      }
      case 'refused':
      case 'unknown':
        return [{ type: `${owner}.${state}`, data }, ...more];
      case 'waived':
        return [{ type: `${owner}.waived`, data: about }, ...more];
      case 'held':
        return [{ type: 'violation.held', data: {} }];
      case 'pending':
      case 'sending':
        break;
    }
  }
  return isAttempted ? [{ type: `${owner}.delayed`, data }, ...more] : more;
}

/** What people see of a record and no other change tells, such as what an entry waits for. */
function isOtherwiseDifferent(before: OutboxRecord, after: OutboxRecord): boolean {
  if (before.withheld !== after.withheld) return true;
  const isShownAs = (one: Entry | null, other: Entry) =>
    one === other || (one?.state === other.state && one.waitsFor === other.waitsFor);
  if (!after.entries.every((entry) => isShownAs(entryOf(before, entry), entry))) return true;
  if (after.kind === 'tow') return before.kind === 'tow' && before.tow !== after.tow;
  return before.kind === 'violation' && SHOWN_LINKS.some((name) => before[name] !== after[name]);
}

const SHOWN_LINKS = ['reference', 'ticket', 'ticketOverruled', 'heldForTicket', 'serviceStatus', 'canTow'] as const;
