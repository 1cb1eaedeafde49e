import { backoffMs, type RetrySettings } from '../src/domain/backoff';
import type { Entry } from '../src/domain/entry';
import type { GiveBack } from '../src/domain/give-back';
import type { StoredViolation } from '../src/domain/outbox-record';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import type { CheckedTicket, TicketCheck } from '../src/workflow/lookups';
import type { Leased, Outbox } from '../src/workflow/outbox-port';
import { httpStatusOf, wordsOf } from './attempt-result';
import type { NextClaimant, Step } from './entry-calls';

export interface CheckTicketTools {
  readonly outbox: Outbox<StoredViolation>;
  readonly tickets: TicketCheck;
  readonly settings: RetrySettings;
  readonly clock: Clock;
  readonly log: Log;
}

type Unavailable = Extract<CheckedTicket, { kind: 'unavailable' }>;

/** A budget that is spent has free slots again within a minute. */
const DROPPED_CAP_MS = 60_000;

/**
 * Asks for an active ticket before a fine. With one the violation is held for a person; while nobody can say, it is not
 * sent either, and asked about more and more rarely: people's own questions share that budget.
 */
export async function checkTicket(
  leased: Leased<StoredViolation>,
  tools: CheckTicketTools,
  nextClaimant: NextClaimant,
): Promise<Step<StoredViolation>> {
  const { id, violation } = leased.record;
  const { zoneId, plateNumber, plateType } = violation.form;
  const checked = await tools.tickets.checkTicket({ zoneId, plateNumber, plateType });
  tools.log.info('violation.ticket_checked', { violation_id: id, answer: checked.kind });
  const { what, why } = meaningOf(checked, leased.entry, tools);
  const claimant = await nextClaimant();
  const storedMs = tools.clock.monotonicMs();
  const { more, next } = await tools.outbox.giveBack(leased, why, claimant);
  return { what, more, next, storedMs };
}

/** What the answer means for the violation, and in one word. */
function meaningOf(
  checked: CheckedTicket,
  entry: Entry,
  tools: CheckTicketTools,
): { readonly what: string; readonly why: GiveBack } {
  switch (checked.kind) {
    case 'answered': {
      const { hasActiveTicket } = checked;
      const what = hasActiveTicket ? 'held for a ticket' : 'no ticket';
      return { what, why: { kind: 'ticket_known', hasActiveTicket } };
    }
    case 'refused':
      return { what: 'ticket check refused', why: { kind: 'ticket_refused', words: checked.message } };
    case 'unavailable': {
      const { exchange } = checked;
      const error = { http_status: httpStatusOf(exchange), message: wordsOf(exchange) };
      const delayMs = delayAfter(entry, checked, tools);
      return { what: 'ticket check unavailable', why: { kind: 'ticket_unknown', delayMs, error } };
    }
  }
}

function delayAfter(entry: Entry, { exchange, retryAfterMs }: Unavailable, tools: CheckTicketTools): number {
  const { settings, clock } = tools;
  const nowMs = clock.nowMs();
  const facts = { failures: entry.ticketFailures, notBeforeMs: nowMs + retryAfterMs, nowMs, jitter: clock.random() };
  const capMs = exchange.kind === 'dropped' ? DROPPED_CAP_MS : settings.retryCapMs;
  return backoffMs(facts, { ...settings, retryCapMs: Math.min(settings.retryCapMs, capMs) });
}
