import type { Owed, ReportStanding } from './outbox';
import type { Decision } from './refusal';
import type { Tow, Whereabouts } from './tow';
import type { OverdueAfter } from './overdue';
import type { FactEvent, Role } from './vocabulary';

/** The weakest role that may record a fact; a higher one may be needed where the tow makes it so (`advance`). */
export const FACT_ROLES = {
  started: 'crew',
  detained: 'crew',
  canceled: 'dispatcher',
  released: 'dispatcher',
  invoice: 'dispatcher',
  payment: 'dispatcher',
} as const satisfies Record<FactEvent, Role>;

/** A fact as told by a person; what is left out is taken from the tow, the calendar or the clock. */
export type FactCommand =
  | ({ readonly event: 'started'; readonly occurredAt?: string | undefined } & {
      readonly [K in keyof Whereabouts]?: Whereabouts[K] | undefined;
    })
  | { readonly event: 'detained'; readonly occurredAt?: string | undefined }
  | { readonly event: 'released'; readonly occurredAt?: string | undefined }
  | {
      readonly event: 'canceled';
      readonly cancellationReason: string;
      readonly occurredAt?: string | undefined;
      /** Why a cancel that only ops may give is given. */
      readonly reason?: string | undefined;
    }
  | {
      readonly event: 'invoice';
      readonly vehicleType: string;
      readonly delayInDays?: number | undefined;
      readonly overrideReason?: string | undefined;
    }
  | {
      readonly event: 'payment';
      readonly paymentStatus?: string | undefined;
      readonly externalReference?: string | undefined;
      readonly occurredAt?: string | undefined;
    };

/** The configurable tow rules; the values come from the configuration. */
export interface TowRules {
  readonly vehicleTypes: readonly string[];
  readonly paymentStatuses: readonly string[];
  readonly freeDays: number;
  readonly releaseRequiresPayment: 'invoiced' | 'always' | 'never';
  readonly overdueAfter: OverdueAfter;
}

/** Everything a decision depends on, so that the same inputs always give the same answer. */
export interface FactContext {
  readonly reports: readonly ReportStanding[];
  readonly rules: TowRules;
  readonly by: string;
  readonly role: Role;
  readonly nowMs: number;
}

/** What a fact changes: the tow, the reports it adds to the outbox, the reports it withdraws from it. */
export type Advance = Decision<{ tow: Tow; owed: Owed; withdraw: readonly string[] }>;

/** The command of one event. */
export type Command<E extends FactEvent> = Extract<FactCommand, { event: E }>;

/** The tow with one more fact, told now. */
export function withFact<T extends Tow>(tow: T, event: FactEvent, moment: string, context: FactContext): T {
  const fact = { event, occurredAt: moment, recordedAt: new Date(context.nowMs).toISOString(), by: context.by };
  return { ...tow, facts: [...tow.facts, fact] };
}

/** Trimmed text, or undefined when nothing was entered. */
export function entered(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}
