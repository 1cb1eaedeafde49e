import type { NewTask, TaskAction, TaskType } from './tasks';
import type { Hint } from './policy';

/** The words of every task about a violation. There is one question about a violation at a time: whether it is sent. */

const DECISIONS: TaskAction[] = ['correct', 'retry', 'waive', 'accept'];

/** The id of the question about sending a violation. */
export function violationTaskId(id: string): string {
  return `violation.${id}`;
}

/** The id of the question about the answer by which it was accepted. */
export function violationContractTaskId(id: string): string {
  return `violation_contract.${id}`;
}

/** The service said no. */
export function violationRefusedTask(refused: {
  id: string;
  httpStatus: number;
  words: string | null;
  hint: Hint | null;
}): NewTask {
  const quoted = refused.words === null ? 'without a word' : `"${refused.words}"`;
  const perhaps = refused.hint === null ? '' : ' An earlier try got no answer and may have worked.';
  return {
    ...about(refused.id, 'violation_refused', DECISIONS),
    message: `The service refused the violation: ${quoted} (HTTP ${refused.httpStatus}).${perhaps}`,
    http_status: refused.httpStatus,
    hint: refused.hint,
  };
}

/** It was sent, no answer came, and no tow request has proved it in time. */
export function violationUnknownTask(id: string): NewTask {
  return {
    ...about(id, 'violation_unknown', ['accept', 'retry', 'waive']),
    message:
      'The violation may have been sent, and no answer came. It may or may not exist; look it up at the service. A tow request for it settles this by itself.',
  };
}

/** It has kept failing for as long as the configuration allows. */
export function violationGivenUpTask(given: { id: string; attempts: number }): NewTask {
  return {
    ...about(given.id, 'violation_given_up', DECISIONS),
    message: `The violation has kept failing for too long (${given.attempts} attempts). Nothing more is sent until somebody decides.`,
  };
}

/** The vehicle has a ticket that is valid now. */
export function activeTicketTask(id: string): NewTask {
  return {
    ...about(id, 'active_ticket', ['retry', 'correct', 'waive']),
    message:
      'The vehicle has an active ticket, so the violation was not sent. Retry sends it all the same; waive drops it.',
  };
}

/** The service does not say whether there is a ticket. */
export function ticketCheckRefusedTask(id: string, words: string): NewTask {
  return {
    ...about(id, 'ticket_check_refused', ['correct', 'retry', 'waive']),
    message: `The service refused to say whether the vehicle has an active ticket: "${words}". Retry sends the violation without that check.`,
  };
}

/** Nobody could say whether there is a ticket, for as long as the configuration allows. */
export function ticketUnknownTask(id: string): NewTask {
  return {
    ...about(id, 'ticket_unknown', ['correct', 'retry', 'waive']),
    message:
      'Nobody could say whether the vehicle has an active ticket, so the violation was not sent. Retry sends it without that check; waive drops it.',
  };
}

/** Its images are gone from the disk they were kept on, or not what they were. */
export function imagesMissingTask(id: string): NewTask {
  return {
    ...about(id, 'images_missing', ['retry', 'waive', 'accept']),
    message:
      'Images of the violation are missing or cut off in DATA_DIR, so it was not sent. Bring them back and retry, or waive it and report it anew.',
  };
}

/** The service took a violation and answered something its own document does not allow, or nothing. */
export function violationContractTask(broken: { id: string; httpStatus: number }): NewTask {
  return {
    subject: violationContractTaskId(broken.id),
    type: 'answer_broken',
    message:
      'The service accepted the violation, but its answer breaks the documented contract. Its body, if it had one, is kept with the violation as broken_answer, and its images stay here. Look it up at the service: resolve this if the violation is there, send it again if it is not.',
    actions: ['resolve', 'retry'],
    violation_id: broken.id,
    http_status: broken.httpStatus,
  };
}

/** What the service has is what was sent before a person corrected it. */
export function beforeCorrectionTask(id: string): NewTask {
  return {
    subject: `violation_before_correction.${id}`,
    type: 'violation_before_correction',
    message:
      'A tow request proves the violation, but perhaps as it was before it was corrected: an earlier try of that form got no clear answer. Compare it with what the service has; the tow starts with the corrected form.',
    actions: ['resolve'],
    violation_id: id,
  };
}

function about(id: string, type: TaskType, actions: TaskAction[]) {
  return { subject: violationTaskId(id), type, actions, violation_id: id };
}
