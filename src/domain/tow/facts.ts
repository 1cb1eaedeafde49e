import { correctInvoice, correctPayment, delayOf, recordPayment, requestInvoice, type Delay } from './billing';
import { invisibleIn } from '../entered-text';
import { correctableNames, notesOf, type CorrectableName } from './fact-fields';
import type { Advance, FactCommand, FactContext } from './fact-command';
import { cancel, correctCancel, correctStart, detain, release, start } from './movement';
import type { SendingPolicy } from '../outbox/outbox';
import {
  previousTimestamp,
  WHEREABOUTS_FIELDS,
  whereaboutsBy,
  type Partially,
  type Tow,
  type Whereabouts,
} from './tow';
import { FACT_EVENTS, type FactEvent, type JsonObject, type ReportKind, type Role } from '../vocabulary';

/**
 * The facts of a tow, one row each: who may record it, which rule it follows, how its report is sent and corrected. Its
 * fields are in fact-fields.ts.
 */
interface FactRow<E extends FactEvent> {
  /** The weakest role that may record it. The state of the tow may require a higher one. */
  readonly role: Role;
  readonly auditAction: string;
  /** The rule: what the fact changes, or why it is refused. */
  readonly record: (tow: Tow, command: FactCommand<E>, context: FactContext) => Advance;
  /** Commands with everything that a person could enter. `allowedFacts` tries the rule with them. */
  readonly trials: (context: FactContext) => readonly FactCommand<E>[];
  /** What a form of it needs to know. */
  readonly form: (tow: Tow, context: FactContext) => FactForm;
  /** What is kept on the timeline beside the notes that are entered, by wire name. */
  readonly note?: (command: FactCommand<E>) => Readonly<Record<string, string | undefined>>;
  /** The reason that the audit shows. */
  readonly why?: (command: FactCommand<E>) => string | undefined;
  readonly sending: SendingPolicy;
  /** The tow after its report got a corrected body. `index` is the place of a payment among the payments. */
  readonly correct?: (tow: Tow, body: JsonObject, index: number) => Tow;
}

/** What a form of a fact needs to know. Timestamps are ISO 8601. */
export type FactForm =
  | {
      readonly event: 'started';
      readonly notBefore: string | null;
      /** What the tow knows from its violation, and need not be entered. */
      readonly known: Partially<Whereabouts>;
      readonly missing: readonly (keyof Whereabouts)[];
    }
  | {
      readonly event: 'canceled';
      readonly notBefore: string | null;
      /** True if a reason is needed beside the cancellation reason, because there is an invoice. */
      readonly needsReason: boolean;
    }
  | { readonly event: 'invoice'; readonly vehicleTypes: readonly string[]; readonly delay: Delay }
  | { readonly event: 'payment'; readonly notBefore: string | null; readonly paymentStatuses: readonly string[] }
  | {
      readonly event: Exclude<FactEvent, 'started' | 'canceled' | 'invoice' | 'payment'>;
      /** The latest fact, before which a new one must not lie; null if there is none. */
      readonly notBefore: string | null;
    };

const SAFE: SendingPolicy = { safeToRepeat: true, unansweredMax: Infinity, openAfterRetry: 1, isUrgent: false };
const ANY_TEXT = 'x';

export const FACTS = {
  started: {
    role: 'crew',
    auditAction: 'tow.started',
    record: start,
    trials: () => [{ event: 'started', plateNumber: ANY_TEXT, towedLocation: ANY_TEXT, latitude: 0, longitude: 0 }],
    form: (tow) => {
      const known = whereaboutsBy(({ key }) => tow[key]);
      const missing = WHEREABOUTS_FIELDS.flatMap(({ key }) => (known[key] === null ? [key] : []));
      return { event: 'started', notBefore: previousTimestamp(tow), known, missing };
    },
    note: ({ plateNumber = '' }) => ({ removed_characters: invisibleIn(plateNumber).join(', ') || undefined }),
    sending: { ...SAFE, isUrgent: true },
    correct: correctStart,
  },
  detained: {
    role: 'crew',
    auditAction: 'tow.detained',
    record: detain,
    trials: () => [{ event: 'detained' }],
    form: (tow) => ({ event: 'detained', notBefore: previousTimestamp(tow) }),
    sending: SAFE,
  },
  canceled: {
    role: 'dispatcher',
    auditAction: 'tow.canceled',
    record: cancel,
    trials: () => [{ event: 'canceled', cancellationReason: ANY_TEXT, reason: ANY_TEXT }],
    form: (tow, context) => {
      const needsReason = !cancel(tow, { event: 'canceled', cancellationReason: ANY_TEXT }, context).ok;
      return { event: 'canceled', notBefore: previousTimestamp(tow), needsReason };
    },
    why: ({ reason, cancellationReason }) => reason ?? cancellationReason,
    sending: SAFE,
    correct: correctCancel,
  },
  released: {
    role: 'dispatcher',
    auditAction: 'tow.released',
    record: release,
    trials: () => [{ event: 'released' }],
    form: (tow) => ({ event: 'released', notBefore: previousTimestamp(tow) }),
    sending: { ...SAFE, isUrgent: true },
  },
  invoice: {
    role: 'dispatcher',
    auditAction: 'tow.invoice_requested',
    record: requestInvoice,
    trials: ({ rules }) => [{ event: 'invoice', vehicleType: rules.vehicleTypes[0] ?? ANY_TEXT }],
    form: (tow, { rules, clockMs }) => ({
      event: 'invoice',
      vehicleTypes: rules.vehicleTypes,
      delay: delayOf(tow, clockMs, rules.freeDays),
    }),
    why: ({ overrideReason }) => overrideReason,
    sending: { safeToRepeat: false, unansweredMax: 2, openAfterRetry: 1, isUrgent: false },
    correct: correctInvoice,
  },
  payment: {
    role: 'dispatcher',
    auditAction: 'tow.payment_recorded',
    record: recordPayment,
    trials: ({ rules }) => rules.paymentStatuses.map((paymentStatus) => ({ event: 'payment', paymentStatus })),
    form: (tow, context) => {
      const isPossible = (paymentStatus: string) => recordPayment(tow, { event: 'payment', paymentStatus }, context).ok;
      const paymentStatuses = context.rules.paymentStatuses.filter(isPossible);
      return { event: 'payment', notBefore: previousTimestamp(tow), paymentStatuses };
    },
    sending: SAFE,
    correct: correctPayment,
  },
} as const satisfies FactTable;

export type FactTable = { readonly [E in FactEvent]: FactRow<E> };
const TABLE: FactTable = FACTS;

/**
 * Decides what a fact does to a tow, or refuses it. A tow changes its state in no other way. Refusals:
 * `transition_not_allowed`, `already_recorded`, `invoice_required`, `payment_required`, `invoice_exists`, `on_hold`,
 * `role_not_allowed`, `field_invalid`.
 */
export function advance<E extends FactEvent>(tow: Tow, command: FactCommand<E>, context: FactContext): Advance {
  return TABLE[command.event].record(tow, command, context);
}

/** What is kept on the timeline and not sent, by wire name. */
export function explanationOf<E extends FactEvent>(command: FactCommand<E>): JsonObject {
  const notes = notesOf(command.event, command);
  for (const [name, text] of Object.entries(TABLE[command.event].note?.(command) ?? {})) {
    if (text !== undefined) notes[name] = text;
  }
  return notes;
}

/** The reason that the audit shows; a reason for the record comes before one that is sent. */
export function auditReasonOf<E extends FactEvent>(command: FactCommand<E>): string | undefined {
  return TABLE[command.event].why?.(command);
}

/** The fields of each report that a person may correct. */
export const CORRECTABLE: { readonly [E in FactEvent]: readonly CorrectableName<E>[] } = {
  started: correctableNames('started'),
  detained: correctableNames('detained'),
  canceled: correctableNames('canceled'),
  released: correctableNames('released'),
  invoice: correctableNames('invoice'),
  payment: correctableNames('payment'),
};

/** True if a person may correct at least one field of such a report. */
export function isCorrectable(kind: ReportKind): boolean {
  return CORRECTABLE[kind].length > 0;
}

/** A table with one value per fact. */
export function perFact<T>(valueOf: (event: FactEvent) => T): Readonly<Record<FactEvent, T>> {
  const table: Partial<Record<FactEvent, T>> = {};
  for (const event of FACT_EVENTS) table[event] = valueOf(event);
  if (!isComplete(table)) throw new Error('a fact has no value');
  return table;
}

function isComplete<T>(table: Partial<Record<FactEvent, T>>): table is Record<FactEvent, T> {
  return FACT_EVENTS.every((event) => event in table);
}
