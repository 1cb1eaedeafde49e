import { NO_DISPATCH } from '../../src/domain/tow/dispatch';
import type { Advance, FactCommand, FactContext, TowRules } from '../../src/domain/tow/fact-command';
import type { ReportStatus } from '../../src/domain/outbox/outbox';
import type { Refusal } from '../../src/domain/refusal';
import type { Fact, InvoiceWebhook, Tow } from '../../src/domain/tow/tow';
import {
  isTowingReference,
  isViolationReference,
  type FactEvent,
  type TowingReference,
  type TowState,
  type ViolationReference,
} from '../../src/domain/vocabulary';

/** Tows, contexts and decisions for the tests of the domain. */

export const NOW = '2026-03-10T12:00:00.000Z';
export const nowMs = Date.parse(NOW);

/** ISO text of the time this many minutes after `NOW`; negative: before. */
export const minutesFromNow = (minutes: number): string => new Date(nowMs + minutes * 60_000).toISOString();

export const WHEREABOUTS = {
  plateNumber: 'ABJ 1234',
  towedLocation: 'King Fahd Road 12',
  latitude: 24.7136,
  longitude: 46.6753,
} as const;

const NOWHERE = { plateNumber: null, towedLocation: null, latitude: null, longitude: null } as const;

export const RULES: TowRules = {
  vehicleTypes: ['HEAVY'],
  paymentStatuses: ['PAID'],
  freeDays: 0,
  releaseRequiresPayment: 'invoiced',
  overdueAfter: { requestedMs: 45 * 60_000, startedMs: 240 * 60_000, reportMs: 15 * 60_000 },
};

export function towingReference(text: string): TowingReference {
  if (!isTowingReference(text)) throw new Error('not a towing reference');
  return text;
}

export function violationReference(text: string): ViolationReference {
  if (!isViolationReference(text)) throw new Error('not a violation reference');
  return text;
}

const BASE = {
  towingReferenceId: towingReference('TW-20260310-AAAAAA'),
  violationReferenceId: violationReference('V-20260310-BBBBBB'),
  metadata: { id: 'case-7' },
  requestedAt: '2026-03-10T08:00:00.000Z',
  facts: [],
  invoiceRequest: null,
  payments: [],
  invoiceWebhooks: [],
  rivalRequests: [],
  violationId: null,
  zoneId: null,
  violationType: null,
  dispatch: NO_DISPATCH,
} as const;

export function fact(event: FactEvent, occurredAt: string): Fact {
  return { event, occurredAt, recordedAt: occurredAt, by: 'crew 4' };
}

const started = fact('started', '2026-03-10T10:00:00Z');
const detained = fact('detained', '2026-03-10T11:00:00Z');

/** A tow in the given state, with the facts that lead there. */
export function towAs(state: TowState): Tow {
  switch (state) {
    case 'requested':
      return { ...BASE, ...NOWHERE, state };
    case 'started':
      return { ...BASE, ...WHEREABOUTS, state, facts: [started] };
    case 'detained':
      return { ...BASE, ...WHEREABOUTS, state, facts: [started, detained] };
    case 'released':
      return { ...BASE, ...WHEREABOUTS, state, facts: [started, detained, fact('released', '2026-03-10T11:30:00Z')] };
    case 'canceled':
      return {
        ...BASE,
        ...NOWHERE,
        state,
        cancellationReason: 'gone on arrival',
        facts: [fact('canceled', '2026-03-10T09:30:00Z')],
      };
  }
}

/** A started tow with the given plate. */
export function towWithPlate(plateNumber: string): Tow {
  return { ...BASE, ...WHEREABOUTS, plateNumber, state: 'started', facts: [started] };
}

export const INVOICE_WEBHOOK: InvoiceWebhook = {
  deliveryId: 'delivery-1',
  receivedAt: '2026-03-10T11:45:00.000Z',
  towingInvoice: { invoice_number: 'INV-1', total_amount: 345 },
  delayInvoice: null,
};

/** The context of a decision of a dispatcher at `NOW`, with an empty outbox and the default rules. */
export function context(changes: Partial<FactContext> = {}): FactContext {
  return { reports: [], rules: RULES, by: 'dispatch', role: 'dispatcher', clockMs: nowMs, ...changes };
}

export function report(kind: FactEvent, state: ReportStatus['state']): ReportStatus {
  return { id: `${kind}-1`, kind, state, attemptId: state === 'sending' ? 'a1' : null, possibleEffects: 0 };
}

/** The report after an unanswered attempt that may have worked. */
export function perhapsDone(status: ReportStatus): ReportStatus {
  return { ...status, possibleEffects: 1 };
}

/** The report in flight. */
export function beingSent(status: ReportStatus): ReportStatus {
  return { ...status, attemptId: 'a1' };
}

/** The shortest valid command of each event. */
export const COMMANDS = {
  started: { event: 'started', ...WHEREABOUTS },
  detained: { event: 'detained' },
  released: { event: 'released' },
  canceled: { event: 'canceled', cancellationReason: 'gone on arrival' },
  invoice: { event: 'invoice', vehicleType: 'HEAVY' },
  payment: { event: 'payment' },
} as const satisfies Record<FactEvent, FactCommand>;

export function recorded(decision: Advance): Extract<Advance, { ok: true }> {
  if (!decision.ok) throw new Error(`the fact was refused: ${decision.refusal.code}, ${decision.refusal.message}`);
  return decision;
}

/** The refusal of a decision, of `advance` or another function. */
export function refusalOf(decision: { ok: true } | { ok: false; refusal: Refusal }): Refusal {
  if (decision.ok) throw new Error('nothing was refused');
  return decision.refusal;
}

/** Freezes a value and everything in it, so that any attempt to change it throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}
