import { recordPayment, requestInvoice } from './billing';
import type { Advance, FactCommand, FactContext } from './fact-command';
import { cancel, detain, release, start } from './movement';
import type { Tow } from './tow';

/**
 * The only way a tow moves. Pure: decides what a fact does to a tow, or refuses with the rule that forbids it.
 * Refusals: `transition_not_allowed`, `already_recorded`, `invoice_required`, `payment_required`, `invoice_exists`,
 * `on_hold`, `role_not_allowed`, `field_invalid`.
 */
export function advance(tow: Tow, command: FactCommand, context: FactContext): Advance {
  switch (command.event) {
    case 'started':
      return start(tow, command, context);
    case 'detained':
      return detain(tow, command, context);
    case 'released':
      return release(tow, command, context);
    case 'canceled':
      return cancel(tow, command, context);
    case 'invoice':
      return requestInvoice(tow, command, context);
    case 'payment':
      return recordPayment(tow, command, context);
  }
}
