import { sentBody, type SentValues } from './fact-fields';
import type { Tow } from './tow';
import type { JsonObject, ReportKind } from '../vocabulary';

/** A report to append to the outbox. */
export interface Owed {
  readonly kind: ReportKind;
  /** Field names and order as in docs/service-api.md#operations. */
  readonly body: JsonObject;
}

/** The references in the body of each report: an invoice and its payment name the tow alone. */
const REPORT_REFERENCES = {
  started: ['violation_reference_id', 'towing_reference_id'],
  detained: ['violation_reference_id', 'towing_reference_id'],
  canceled: ['violation_reference_id', 'towing_reference_id'],
  released: ['violation_reference_id', 'towing_reference_id'],
  invoice: ['towing_reference_id'],
  payment: ['towing_reference_id'],
} as const satisfies Readonly<Record<ReportKind, readonly string[]>>;

/** The report that a fact owes. Its body is fixed when the fact is recorded; only a correction replaces it. */
export function owedReport<K extends ReportKind>(tow: Tow, kind: K, values: SentValues<K>): Owed {
  const references = { violation_reference_id: tow.violationReferenceId, towing_reference_id: tow.towingReferenceId };
  const named = REPORT_REFERENCES[kind].map((name) => [name, references[name]] as const);
  return { kind, body: { ...Object.fromEntries(named), ...sentBody(kind, values) } };
}
