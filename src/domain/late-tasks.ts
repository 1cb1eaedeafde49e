import type { NewTask } from './tasks';

/** The tasks about webhooks that come after their tow was archived. */

/** An invoice for a tow that is over and has left for the archive: nothing is compared any more. */
export function lateInvoiceTask(deliveryId: string): NewTask {
  return {
    subject: `late_invoice-${deliveryId}`,
    type: 'late_invoice',
    message: `An invoice came for a tow that is over and was archived. It was compared with nothing; the delivery ${deliveryId} holds it, and later the archive.`,
    actions: ['resolve'],
  };
}

/**
 * A tow request for a tow that is over and has left for the archive. What Redis remembers of that tow does not tell whether
 * the request repeats it or reuses its reference for a new order, so a person compares the violations.
 */
export function lateRequestTask(deliveryId: string, violationReferenceId: string): NewTask {
  return {
    subject: `late_request-${deliveryId}`,
    type: 'late_request',
    message: `A tow request came for a tow that is over and was archived; no tow was made. It names the violation ${violationReferenceId}. When the archived tow has another one, this is a new order under a used reference: ask the service for a new reference. The delivery ${deliveryId} holds the request, and later the archive.`,
    actions: ['resolve'],
  };
}
