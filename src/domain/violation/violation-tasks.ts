import type { Hint } from '../vocabulary';
import { DECISIONS, type TaskAction } from '../outbox/decisions';
import type { NewTask, TaskType } from '../ops/tasks';

/** All tasks about a violation. At most one of them asks whether to send it. */

/** The id of the task about sending a violation, and its subject. */
export function violationTaskId(id: string): string {
  return `violation.${id}`;
}

const beforeCorrectionId = (id: string) => `violation_before_correction.${id}`;
const sharedReferenceId = (id: string) => `violation_mismatch.${id}`;

/** The service refused it. With a hint, an earlier attempt without an answer may have created it. */
export function violationRefusedTask(refused: {
  id: string;
  httpStatus: number;
  message: string | null;
  hint: Hint | null;
}): NewTask {
  const quoted = refused.message === null ? 'without a message' : `"${refused.message}"`;
  const perhaps = refused.hint === null ? '' : ' An earlier try got no answer and may have worked.';
  return {
    ...about(refused.id, 'violation_refused', [...DECISIONS]),
    message: `The service refused the violation: ${quoted} (HTTP ${refused.httpStatus}).${perhaps}`,
    http_status: refused.httpStatus,
    hint: refused.hint,
  };
}

/** It was sent without an answer, and no tow request proved it in time. */
export function violationUnknownTask(id: string): NewTask {
  return {
    ...about(id, 'violation_unknown', ['accept', 'retry', 'waive']),
    message:
      'The violation may have been sent, and no answer came. It may or may not exist; look it up at the service. A tow request for it settles this by itself.',
  };
}

/** It kept failing for the configured time. */
export function violationGivenUpTask(given: { id: string; attempts: number }): NewTask {
  return {
    ...about(given.id, 'violation_given_up', [...DECISIONS]),
    message: `The violation has kept failing for too long (${given.attempts} attempts). Nothing more is sent until a person decides.`,
  };
}

/** The vehicle has a valid ticket. */
export function activeTicketTask(id: string): NewTask {
  return {
    ...about(id, 'active_ticket', ['retry', 'correct', 'waive']),
    message: 'The vehicle has an active ticket, so the violation was not sent. Retry sends it anyway; waive drops it.',
  };
}

/** The service refused the ticket check. */
export function ticketCheckRefusedTask(id: string, message: string): NewTask {
  return {
    ...about(id, 'ticket_check_refused', ['correct', 'retry', 'waive']),
    message: `The service refused the check for an active ticket: "${message}". Retry sends the violation without the check.`,
  };
}

/** The ticket check had no answer for the configured time. */
export function ticketUnknownTask(id: string): NewTask {
  return {
    ...about(id, 'ticket_unknown', ['correct', 'retry', 'waive']),
    message:
      'The check for an active ticket had no answer, so the violation was not sent. Retry sends it without the check; waive drops it.',
  };
}

/** Its images are missing or changed on disk. */
export function imagesMissingTask(id: string): NewTask {
  return {
    ...about(id, 'images_missing', ['retry', 'waive', 'accept']),
    message:
      'Images of the violation are missing or truncated in DATA_DIR, so it was not sent. Restore them and retry, or waive it and report it again.',
  };
}

/** The service has the form as it was before a person corrected it. */
export function beforeCorrectionTask(id: string): NewTask {
  return {
    subject: beforeCorrectionId(id),
    type: 'violation_before_correction',
    message:
      'The service has the violation, but perhaps as it was before it was corrected: a tow request or a late answer shows it. Compare it with what the service has; the tow starts with the corrected form.',
    actions: ['resolve'],
    violation_id: id,
  };
}

/** The service gave it a reference that another violation has. */
export function sharedReferenceTask(shared: { id: string; otherId: string; reference: string }): NewTask {
  const { id, otherId, reference } = shared;
  return {
    subject: sharedReferenceId(id),
    type: 'violation_mismatch',
    message: `The service gave this violation the reference ${reference}, which is that of ${otherId}. A tow request with this reference takes plate and place from ${otherId}. Look both up at the service, and find out which vehicle is meant before the start of such a tow is reported.`,
    actions: ['resolve'],
    violation_id: id,
  };
}

function about(id: string, type: TaskType, actions: TaskAction[]) {
  return { subject: violationTaskId(id), type, actions, violation_id: id };
}
