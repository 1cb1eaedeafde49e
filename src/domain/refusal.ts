/**
 * A refusal is a value, not an exception: the rule that forbids what was asked, in words a person can act on.
 *
 * - conflict: the state of things forbids it now (HTTP 409).
 * - invalid: a field fails a rule (HTTP 422); every failing field is named.
 * - forbidden: a higher role may do it (HTTP 403).
 * - unknown: there is no such thing (HTTP 404).
 */
export interface Refusal {
  readonly kind: 'conflict' | 'invalid' | 'forbidden' | 'unknown';
  /** Stable snake_case code for machines. */
  readonly code: string;
  /** For people. Never carries personal data. */
  readonly message: string;
  readonly details: readonly FieldRule[];
}

/** One field and the rule it fails. */
export interface FieldRule {
  readonly field: string;
  readonly rule: string;
}

export type Decision<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly refusal: Refusal };

export function conflict(
  code: string,
  message: string,
  details: readonly FieldRule[] = [],
): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'conflict', code, message, details } };
}

export function invalid(details: readonly FieldRule[]): { ok: false; refusal: Refusal } {
  const message = details.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
  return { ok: false, refusal: { kind: 'invalid', code: 'field_invalid', message, details } };
}

export function forbidden(message: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'forbidden', code: 'role_not_allowed', message, details: [] } };
}

export function unknown(code: string, message: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'unknown', code, message, details: [] } };
}
