import { backoffMs, type RetrySettings } from '../src/domain/outbox/backoff';
import type { Entry } from '../src/domain/outbox/entry';
import { errorOf } from '../src/domain/outbox/exchange-message';
import type { GiveBack } from '../src/domain/outbox/give-back';
import type { LeaseRight } from '../src/domain/outbox/lease';
import type { StoredViolation } from '../src/domain/outbox/outbox-record';
import { startAge, type Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log/log';
import type { CheckedTicket, TicketCheck } from '../src/workflow/service/lookups';
import type { Outbox } from '../src/workflow/outbox/outbox-port';
import type { RunStep } from './entry-calls';

export interface CheckTicketTools {
  readonly outbox: Outbox<StoredViolation>;
  readonly tickets: TicketCheck;
  readonly settings: RetrySettings;
  readonly clock: Clock;
  readonly log: Log;
}

type Unavailable = Extract<CheckedTicket, { kind: 'unavailable' }>;

/** A rate limit has free permits again within a minute. */
const DROPPED_CAP_MS = 60_000;

/**
 * Checks for an active ticket before a violation is sent. With one the violation escalates. Without an answer it is
 * not sent, and checked again with backoff, since lookups of people share the rate limit.
 */
export async function checkTicket(
  right: LeaseRight<StoredViolation>,
  tools: CheckTicketTools,
  mayGoOn: () => boolean,
): Promise<RunStep<StoredViolation>> {
  const { id, violation } = right.record;
  const { zoneId, plateNumber, plateType } = violation.form;
  if (zoneId === undefined || plateType === undefined) throw new Error(`the violation ${id} is not to be sent`);
  const checked = await tools.tickets.checkTicket({ zoneId, plateNumber, plateType });
  tools.log.info('violation.ticket_checked', { violation_id: id, answer: checked.kind });
  const { what, why } = giveBackAfter(checked, right.entry, tools);
  const ageMs = startAge(tools.clock);
  const { next } = await tools.outbox.giveBack(right, why, mayGoOn());
  return { what, next, ageMs };
}

function giveBackAfter(
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
      return { what: 'ticket check refused', why: { kind: 'ticket_refused', message: checked.message } };
    case 'unavailable': {
      const error = errorOf(checked.exchange);
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
