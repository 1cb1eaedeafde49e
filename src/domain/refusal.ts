import { z } from 'zod';

/**
 * A refusal is a value, not an exception. It names the rule that forbids a request.
 *
 * - conflict: the current state forbids it (HTTP 409).
 * - invalid: fields fail rules (HTTP 422); every failing field is listed.
 * - forbidden: it needs a higher role (HTTP 403).
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
export const fieldRule = z.object({ field: z.string(), rule: z.string() });
export type FieldRule = Readonly<z.output<typeof fieldRule>>;

export type Decision<T> = ({ readonly ok: true } & T) | { readonly ok: false; readonly refusal: Refusal };

export function conflict(
  code: string,
  message: string,
  details: readonly FieldRule[] = [],
): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'conflict', code, message, details } };
}

/** Refused with `field_invalid`. The message lists the failing fields. */
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
