import type { ReportStatus } from '../outbox/outbox';
import type { OverdueAfter } from '../outbox/overdue';
import type { Decision } from '../refusal';
import type { Owed } from './report-bodies';
import { isoTimestamp } from '../timestamp';
import type { FactInput } from './fact-fields';
import type { Tow } from './tow';
import type { FactEvent, JsonObject, Role } from '../vocabulary';

/** A fact as it is entered: that of one event, or by default of any. The rule refuses it without what it needs. */
export type FactCommand<E extends FactEvent = FactEvent> = {
  [K in E]: { readonly event: K } & FactInput<K>;
}[E];

/** The configurable tow rules. */
export interface TowRules {
  readonly vehicleTypes: readonly string[];
  readonly paymentStatuses: readonly string[];
  readonly freeDays: number;
  readonly releaseRequiresPayment: 'invoiced' | 'always' | 'never';
  readonly overdueAfter: OverdueAfter;
}

/** Everything that a decision depends on beside the tow. The same inputs always give the same result. */
export interface FactContext {
  readonly reports: readonly ReportStatus[];
  readonly rules: TowRules;
  readonly by: string;
  readonly role: Role;
  /** Clock of this process, ms. A time that a person enters must not lie in its future. */
  readonly clockMs: number;
}

/** What a fact changes: the tow, the report to append to its outbox, and the reports to withdraw. */
export type Advance = Decision<{ tow: Tow; owed: Owed; withdraw: readonly string[] }>;

/** The tow with one more fact, recorded now. */
export function withFact<T extends Tow>(tow: T, event: FactEvent, timestamp: string, context: FactContext): T {
  const fact = { event, occurredAt: timestamp, recordedAt: isoTimestamp(context.clockMs), by: context.by };
  return { ...tow, facts: [...tow.facts, fact] };
}

/** Trimmed text, or undefined if nothing was entered. */
export function entered(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** A text of a report's body; empty if the body has none. */
export function bodyText(body: JsonObject, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}
