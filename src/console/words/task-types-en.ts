import type { TaskTypes } from './task-types';

/** What a person must decide, in English. */
export const taskTypesEn: TaskTypes = {
  types: {
    report_refused: {
      chip: 'Report refused',
      title: (it) => `The service refused the report “${it}”`,
      advice: 'Correct what is wrong and send it again. The reports behind it wait.',
    },
    report_unknown: {
      chip: 'Report: outcome unknown',
      title: (it) => `Nobody knows whether the report “${it}” worked`,
      advice: 'Look it up at the service: accept it if it is there, send it again if it is not.',
    },
    report_given_up: {
      chip: 'Report given up',
      title: (it) => `The report “${it}” kept failing and is no longer sent`,
      advice: 'Nothing more is sent for this tow until somebody decides.',
    },
    violation_refused: {
      chip: 'Violation refused',
      title: () => 'The service refused the violation',
      advice: 'Correct what is wrong and send it again.',
    },
    violation_unknown: {
      chip: 'Violation: outcome unknown',
      title: () => 'Nobody knows whether the violation arrived',
      advice: 'Look it up at the service. A tow request for it settles this by itself.',
    },
    violation_given_up: {
      chip: 'Violation given up',
      title: () => 'The violation kept failing and is no longer sent',
      advice: 'Nothing more is sent for it until somebody decides.',
    },
    active_ticket: {
      chip: 'Active ticket',
      title: () => 'The vehicle has an active ticket',
      advice: 'The violation was not sent. Waive it, or send it all the same.',
    },
    ticket_check_refused: {
      chip: 'Ticket check refused',
      title: () => 'The service refused to say whether there is an active ticket',
      advice: 'The violation was not sent. Correct it, or send it without that check.',
    },
    ticket_unknown: {
      chip: 'Ticket not known',
      title: () => 'Nobody could say whether there is an active ticket',
      advice: 'The violation was not sent. Send it without that check, or waive it.',
    },
    images_missing: {
      chip: 'Images missing',
      title: () => 'Images of the violation are missing or damaged',
      advice: 'Bring the files back and send it again, or waive it and report it anew.',
    },
    answer_broken: {
      chip: 'Answer not as documented',
      title: (it) =>
        it === ''
          ? 'Accepted, with an answer that is not as documented'
          : `“${it}” was accepted, with an answer that is not as documented`,
      advice:
        'Look it up at the service. If it is there, tell the service of its answer and close this; if it is not, send it again.',
    },
    invoice_mismatch: {
      chip: 'Invoices differ',
      title: () => 'The two invoices of this tow differ',
      advice: 'Compare the answer with what the service posted, on the page of the tow.',
    },
    invoice_before_correction: {
      chip: 'Invoice before correction',
      title: () => 'The invoice is of the request before it was corrected',
      advice: 'The corrected request was never sent. Compare the invoice with what you meant.',
    },
    violation_before_correction: {
      chip: 'Violation before correction',
      title: () => 'The service may have the violation as it was before it was corrected',
      advice: 'Compare it with what the service has. The tow starts with the corrected form.',
    },
    rival_request: {
      chip: 'Second request',
      title: () => 'The service asked for this tow again, differently',
      advice: 'The first request is kept. The other one stands in the timeline of the tow.',
    },
    violation_twice: {
      chip: 'Violation twice',
      title: () => 'The service may hold the violation of this tow twice',
      advice: 'Look both references up at the service.',
    },
    invoice_parked: {
      chip: 'Invoice without a tow',
      title: () => 'An invoice came for a tow that was never requested',
      advice: 'Closing sets it aside. Replaying its delivery brings it back.',
    },
    late_invoice: {
      chip: 'Late invoice',
      title: () => 'An invoice came for a tow that is over and archived',
      advice: 'It was compared with nothing. Its delivery holds it.',
    },
    late_request: {
      chip: 'Late tow request',
      title: () => 'A tow request came for a tow that is over and archived',
      advice:
        'No tow was made. Compare its violation with that of the archived tow: another one is a new order under a used reference.',
    },
    delivery_failing: {
      chip: 'Delivery failing',
      title: () => 'A webhook delivery fails whenever it is processed',
      advice: 'It is tried on by itself. The log says why it fails.',
    },
    operation_paused: {
      chip: 'Operation forbidden',
      title: (it) => `The service forbids the operation “${it}”`,
      advice: 'Ask the service for the permission, then resume. Every 5 minutes one report tries by itself.',
    },
    connection_lost: {
      chip: 'No connection',
      title: () => 'Nothing can be sent to the service',
      advice:
        'Check SERVICE_BASE_URL, the credentials, and whether a page answers in place of the service. One call tries again at least every 5 minutes; this closes by itself once sending works.',
    },
    service_down: {
      chip: 'Service down',
      title: () => 'The service fails call after call',
      advice: 'All reports wait and one at a time tries. This closes by itself once the service answers.',
    },
    records_lost: {
      chip: 'Records lost',
      title: () => 'Something that was acknowledged is nowhere any more',
      advice: 'The Ops page names it. This closes by itself once a whole walk finds nothing lost.',
    },
    archive_failing: {
      chip: 'Archive failing',
      title: () => 'The archive cannot be written',
      advice: 'Nothing is deleted until it can be. Then this closes by itself.',
    },
  },
  other: {
    chip: 'Other',
    title: () => 'Something to decide',
    advice: 'This console does not know this kind; what happened is told below.',
  },
  kinds: {
    started: 'Started',
    detained: 'Detained',
    canceled: 'Canceled',
    released: 'Released',
    invoice: 'Invoice',
    payment: 'Payment',
    violation: 'Violation',
  },
};
