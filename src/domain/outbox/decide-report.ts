import { alsoWaived, type AuditEntry } from '../ops/audit';
import { decideOn, type DecisionContext, type EntryDecision } from './decide-entry';
import type { Entry } from './entry';
import type { TowRules } from '../tow/fact-command';
import { editEntry, addEvent } from './outbox-record';
import { unknown, type Decision, invalid, type FieldRule } from '../refusal';
import { waiveEntry } from './settle-entry';
import { reportsOf, type KnownTow } from '../tow/stored-tow';
import { keepRecordings } from '../tow/timeline';
import type { JsonObject, ReportKind } from '../vocabulary';
import { timestampMs, occurredAt } from '../timestamp';
import { isWithdrawn, paymentIndex } from '../tow/billing';
import { CORRECTABLE, FACTS, type FactTable } from '../tow/facts';
import type { ReportStatus } from './outbox';
import type { Tow } from '../tow/tow';

export type ReportCommand = EntryDecision<{ readonly fields: Correction }>;

/** A corrected time must not lie in the future of the clock. */
interface ReportContext extends DecisionContext {
  readonly rules: TowRules;
}

/**
 * Carries out a decision about one report of a tow: changes the draft and returns the audit entry, or refuses and leaves
 * the draft unchanged. Refusals: `report_not_found`, `field_invalid`, and those of `refusedDecision`.
 */
export function decideReport(
  draft: KnownTow,
  reportId: string,
  decision: ReportCommand,
  context: ReportContext,
): Decision<{ audit: AuditEntry }> {
  const stored = draft.entries.find(({ id }) => id === reportId);
  if (!stored) return unknown('report_not_found', 'There is no such report.');
  const alsoOver = decision.action === 'waive' ? paymentsOf(draft, stored) : [];
  let about: JsonObject = 'reason' in decision ? { reason: decision.reason } : {};
  const decided = decideOn(draft, stored, decision, context, (entry) => {
    if (decision.action !== 'correct') return { ok: true, what: alsoWaived(alsoOver.map(({ id }) => id)) };
    const corrected = correctEntry(draft, entry, decision.fields, context);
    if (!corrected.ok) return corrected;
    about = { fields: corrected.changed };
    return { ok: true, what: { fields: Object.keys(corrected.changed) } };
  });
  if (!decided.ok) return decided;
  const { actor, nowMs } = context;
  const reason = decided.audit.why ?? '';
  for (const payment of alsoOver) waiveEntry(draft, editEntry(draft, payment), reason, nowMs);
  for (const { id } of [stored, ...alsoOver]) {
    addEvent(draft, { type: decided.audit.action, report_id: id, by: actor.name, ...about }, nowMs);
  }
  return decided;
}

/** Corrects the body of an entry and its tow. Returns old and new values by field. */
function correctEntry(
  draft: KnownTow,
  entry: Entry,
  fields: Correction,
  { rules, clockMs }: ReportContext,
): Decision<{ changed: JsonObject }> {
  const { id, kind, body } = entry;
  if (kind === 'violation') throw new Error('not the entry of a tow');
  const corrected = correct(draft.tow, { id, kind, body }, { fields, reports: reportsOf(draft), rules, clockMs });
  if (!corrected.ok) return corrected;
  entry.body = corrected.body;
  keepRecordings(draft, corrected.tow.facts);
  draft.tow = corrected.tow;
  return { ok: true, changed: corrected.fields };
}

/** The pending payments to waive with an invoice. */
function paymentsOf({ entries }: KnownTow, waived: Entry): Entry[] {
  if (waived.kind !== 'invoice') return [];
  return entries.filter(({ kind, state }) => kind === 'payment' && state === 'pending');
}

/** New values by wire name; omitted fields stay. The contracts have checked types and ranges. */
export type Correction = Readonly<Record<string, string | number | undefined>>;

interface CorrectionContext {
  /** All reports of the tow, the corrected one among them. */
  readonly reports: readonly ReportStatus[];
  readonly fields: Correction;
  readonly rules: TowRules;
  /** Clock of this process, ms. A corrected time must not lie in its future. */
  readonly clockMs: number;
}

/**
 * The corrected body of a report, and the tow that follows from it. `fields` has old and new values. Refused with
 * `field_invalid`, which names all failing fields: fields that cannot be corrected, a time in the future or after the
 * next fact, a broken rule.
 */
export function correct(
  tow: Tow,
  report: { readonly id: string; readonly kind: ReportKind; readonly body: JsonObject },
  context: CorrectionContext,
): Decision<{ body: JsonObject; tow: Tow; fields: JsonObject }> {
  const given = Object.entries(context.fields).filter(([, value]) => value !== undefined);
  const table: FactTable = FACTS;
  const row = table[report.kind];
  const correctable: readonly string[] = CORRECTABLE[report.kind];
  if (given.length === 0) {
    const rule = correctable.length > 0 ? `needs at least one of ${correctable.join(', ')}` : 'has nothing to correct';
    return invalid([{ field: 'body', rule }]);
  }
  const forbidden = given.filter(([name]) => !correctable.includes(name));
  // The other rules do not apply to a forbidden field, so that it is named once.
  const judged = { ...context, fields: Object.fromEntries(given.filter(([name]) => correctable.includes(name))) };
  const normalized = normalizedTime(tow, judged);
  const broken = [
    ...forbidden.map(([field]) => ({ field, rule: 'cannot be corrected' })),
    ...brokenRules(judged),
    ...brokenPayment(tow, report.id, judged),
    ...(normalized.ok ? [] : normalized.refusal.details),
  ];
  if (broken.length > 0 || !normalized.ok) return invalid(broken);
  const body: JsonObject = { ...report.body };
  const fields: JsonObject = {};
  for (const [name] of given) {
    const value = normalized.fields[name] ?? null;
    fields[name] = { old: report.body[name] ?? null, new: value };
    body[name] = value;
  }
  const index = paymentIndex(context.reports, report.id);
  return { ok: true, body, fields, tow: row.correct?.(tow, body, index) ?? tow };
}

/** The new values with the time as it is sent. Refused: a time in the future or after the next fact. */
function normalizedTime(tow: Tow, { fields, clockMs }: CorrectionContext): Decision<{ fields: Correction }> {
  const { status_update_time: time } = fields;
  if (typeof time !== 'string') return { ok: true, fields };
  const occurred = occurredAt(time, null, clockMs);
  if (!occurred.ok) return invalid(occurred.refusal.details.map(({ rule }) => ({ field: 'status_update_time', rule })));
  const started = tow.facts.findIndex(({ event }) => event === 'started');
  const next = tow.facts.slice(started + 1).find(({ event }) => event !== 'invoice')?.occurredAt;
  if (next !== undefined && (timestampMs(occurred.timestamp) ?? 0) > (timestampMs(next) ?? 0)) {
    return invalid([{ field: 'status_update_time', rule: `must not be after the next fact (${next})` }]);
  }
  return { ok: true, fields: { ...fields, status_update_time: occurred.timestamp } };
}

function brokenRules({ fields, rules }: CorrectionContext): FieldRule[] {
  const oneOf = (field: string, values: readonly string[]): FieldRule[] => {
    const value = fields[field];
    const isBroken = typeof value === 'string' && !values.includes(value);
    return isBroken ? [{ field, rule: `must be one of ${values.join(', ')}` }] : [];
  };
  return [...oneOf('vehicle_type', rules.vehicleTypes), ...oneOf('payment_status', rules.paymentStatuses)];
}

/** A corrected payment keeps the rule of payments: each status once, PAID last. */
function brokenPayment(tow: Tow, reportId: string, { fields, reports }: CorrectionContext): FieldRule[] {
  const status = fields['payment_status'];
  if (status === undefined) return [];
  const index = paymentIndex(reports, reportId);
  const others = tow.payments
    .map((payment, other) => ({ ...payment, other }))
    .filter(({ other }) => other !== index && !isWithdrawn(reports, other));
  const isTaken = others.some(({ paymentStatus }) => paymentStatus === status);
  const isTooEarly = status === 'PAID' && others.some(({ other }) => other > index);
  return isTaken || isTooEarly ? [{ field: 'payment_status', rule: 'must come once, and PAID last' }] : [];
}
