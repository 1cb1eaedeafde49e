import { DECISIONS, UNIFORM_DECISIONS, type TaskAction } from './decisions';
import { unblock, type Entry } from './entry';
import { addEvent, openTask, type OutboxRecord } from './outbox-record';
import { newTask, violationTaskId, type NewTask } from '../ops/tasks';
import { isCorrectable } from '../tow/facts';
import type { Hint } from '../vocabulary';

/** The tasks that ask a person to decide on an entry. At most one of them is open. */

type EntryName = Pick<Entry, 'id' | 'kind'>;

/**
 * Why a person must decide before an entry is sent. Those in `HOLDS` concern a violation that was not sent.
 *
 * - unknown: it was sent, perhaps twice, and its outcome is unknown.
 * - given_up: it kept failing for the configured time.
 * - unchecked: the ticket check never gave an answer.
 * - images_missing: its images are missing or changed on disk.
 */
type Escalation =
  | { readonly why: 'unknown' | 'given_up' | 'unchecked' | 'images_missing' | 'active_ticket' }
  | { readonly why: 'ticket_refused'; readonly message: string };

const HOLDS: ReadonlySet<Escalation['why']> = new Set([
  'unchecked',
  'images_missing',
  'active_ticket',
  'ticket_refused',
]);

/** Opens a task about an entry; nothing is sent until a person decides. */
export function escalate(record: OutboxRecord, entry: Entry, by: Escalation, nowMs: number): void {
  unblock(entry, nowMs);
  entry.nextAtMs = null;
  entry.waitsFor = null;
  if (record.kind === 'violation' && HOLDS.has(by.why)) {
    entry.state = 'held';
    record.heldForTicket = by.why !== 'images_missing';
  }
  openTask(record, escalationTask(entry, by), nowMs);
  if (record.kind === 'tow') addEvent(record, { type: 'report.handed_over', report_id: entry.id }, nowMs);
}

/** The service refused the call. With a hint, an earlier attempt without an answer may have had its effect. */
export function refusedTask(
  refused: EntryName & { readonly httpStatus: number; readonly message: string | null; readonly hint: Hint | null },
): NewTask {
  const { httpStatus, message, hint } = refused;
  const quoted = message === null ? 'without a message' : `"${message}"`;
  const perhaps = hint === null ? '' : ' An earlier try got no answer and may have worked.';
  return newTask(
    refused.kind === 'violation' ? 'violation_refused' : 'report_refused',
    `The service refused the ${wordsFor(refused)}: ${quoted} (HTTP ${httpStatus}).${perhaps}`,
    { ...about(refused), http_status: httpStatus, hint },
  );
}

/** The task of an escalation. */
export function escalationTask(entry: EntryName & Pick<Entry, 'attempts'>, by: Escalation): NewTask {
  const isViolation = entry.kind === 'violation';
  const what = wordsFor(entry);
  switch (by.why) {
    case 'unknown': {
      const perhaps = isViolation
        ? 'exist; look it up at the service. A tow request for it settles this by itself.'
        : 'have worked; look it up at the service.';
      return newTask(
        isViolation ? 'violation_unknown' : 'report_unknown',
        `The ${what} may have been sent, and no answer came. It may or may not ${perhaps}`,
        about(entry, ['accept', 'retry', 'waive']),
      );
    }
    case 'given_up':
      return newTask(
        isViolation ? 'violation_given_up' : 'report_given_up',
        `The ${what} has kept failing for too long (${entry.attempts} attempts). Nothing more is sent until a person decides.`,
        about(entry),
      );
    case 'unchecked':
      return newTask(
        'ticket_unknown',
        'The check for an active ticket had no answer, so the violation was not sent. Retry sends it without the check; waive drops it.',
        about(entry, ['correct', 'retry', 'waive']),
      );
    case 'images_missing':
      return newTask(
        'images_missing',
        'Images of the violation are missing or truncated in DATA_DIR, so it was not sent. Restore them and retry, or waive it and report it again.',
        about(entry, ['retry', 'waive', 'accept']),
      );
    case 'active_ticket':
      return newTask(
        'active_ticket',
        'The vehicle has an active ticket, so the violation was not sent. Retry sends it anyway; waive drops it.',
        about(entry, ['retry', 'correct', 'waive']),
      );
    case 'ticket_refused':
      return newTask(
        'ticket_check_refused',
        `The service refused the check for an active ticket: "${by.message}". Retry sends the violation without the check.`,
        about(entry, ['correct', 'retry', 'waive']),
      );
  }
}

function wordsFor({ kind }: EntryName): string {
  return kind === 'violation' ? 'violation' : `${kind} report`;
}

/** By default a person may make each decision that the entry takes. */
function about({ id, kind }: EntryName, actions?: TaskAction[]) {
  if (kind === 'violation') {
    return { subject: violationTaskId(id), violation_id: id, actions: actions ?? [...DECISIONS] };
  }
  const allowed = isCorrectable(kind) ? DECISIONS : UNIFORM_DECISIONS;
  return { subject: id, report_id: id, actions: actions ?? [...allowed] };
}
