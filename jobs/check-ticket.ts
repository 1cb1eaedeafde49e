import { backoffMs, type RetrySettings } from '../src/domain/backoff';
import { activeTicketTask, ticketCheckRefusedTask } from '../src/domain/violation-tasks';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { CheckedTicket, TicketCheck } from '../src/workflow/lookups';
import type { ViolationClaim, ViolationOutbox } from '../src/workflow/violation-port';
import { httpStatusOf, wordsOf } from './attempt-result';
import type { Outcome } from './outcome';

export interface CheckTicketTools {
  readonly violationOutbox: ViolationOutbox;
  readonly tickets: TicketCheck;
  readonly settings: RetrySettings;
  readonly clock: Clock;
  readonly log: Log;
}

type Check = Extract<ViolationClaim, { kind: 'check' }>;
type Unavailable = Extract<CheckedTicket, { kind: 'unavailable' }>;

/** A budget that is spent has free slots again within a minute. */
const DROPPED_CAP_MS = 60_000;

/**
 * Asks for an active ticket before a fine. With one the violation is held for a person; while nobody can say, it is not
 * sent either, and asked about more and more rarely: people's own questions share that budget.
 */
export async function checkTicket(claim: Check, tools: CheckTicketTools): Promise<Outcome> {
  const { zoneId, plateNumber, plateType } = claim.record.violation.form;
  const checked = await tools.tickets.checkTicket({ zoneId, plateNumber, plateType });
  tools.log.info('violation.ticket_checked', { violation_id: claim.id, answer: checked.kind });
  switch (checked.kind) {
    case 'answered': {
      const { hasActiveTicket } = checked;
      await tools.violationOutbox.checked(
        claim,
        { hasActiveTicket },
        hasActiveTicket ? activeTicketTask(claim.id) : null,
      );
      return hasActiveTicket
        ? { kind: 'done', what: 'held for a ticket' }
        : { kind: 'more', what: 'no ticket', ref: claim.id };
    }
    case 'refused':
      await tools.violationOutbox.checked(claim, null, ticketCheckRefusedTask(claim.id, checked.message));
      return { kind: 'done', what: 'ticket check refused' };
    case 'unavailable': {
      const { exchange } = checked;
      const error = { http_status: httpStatusOf(exchange), message: wordsOf(exchange) };
      await tools.violationOutbox.unchecked(claim, { delayMs: delayAfter(claim, checked, tools), error });
      return { kind: 'done', what: 'ticket check unavailable' };
    }
  }
}

function delayAfter({ record }: Check, { exchange, retryAfterMs }: Unavailable, tools: CheckTicketTools): number {
  const { settings, clock } = tools;
  const nowMs = clock.nowMs();
  const facts = { failures: record.ticketFailures, notBeforeMs: nowMs + retryAfterMs, nowMs, jitter: clock.random() };
  const capMs = exchange.kind === 'dropped' ? DROPPED_CAP_MS : settings.retryCapMs;
  return backoffMs(facts, { ...settings, retryCapMs: Math.min(settings.retryCapMs, capMs) });
}
