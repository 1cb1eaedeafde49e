import { DAY_MS } from '../timestamp';
import { DELIVERY_KINDS } from '../vocabulary';

/** What receivers answer to the calls that reach them, and why they refuse a call. */

/** The path of a call: that of a webhook, or any other. */
export const WEBHOOK_PATHS = [...DELIVERY_KINDS, 'other'] as const;
export type WebhookPath = (typeof WEBHOOK_PATHS)[number];

/** A sender repeats a refused call for less than a day. After this time without one, the earlier ones no longer count. */
export const REFUSALS_REMEMBERED_MS = DAY_MS;

/**
 * Why a call is refused.
 *
 * - signature_wrong: no secret fits the signature. A wrong secret and a body changed on its way look the same.
 * - body_changed: a secret fits the signature of another spelling of the same JSON, so the secret is right.
 * - signature_missing: the headers of a signature are missing.
 * - timestamp_off: the signature is too old or too far in the future, or its timestamp cannot be read.
 * - shared_secret_wrong, shared_secret_missing: the value, or the header of the shared secret.
 * - content_type, compressed, too_large, unreadable: the body is not taken or was cut off.
 * - too_many: above the rate limit of the source.
 * - not_json, contract_broken: the content.
 * - address: no webhook has this path or method.
 */
export const REFUSAL_REASONS = [
  'signature_wrong',
  'body_changed',
  'signature_missing',
  'timestamp_off',
  'shared_secret_wrong',
  'shared_secret_missing',
  'content_type',
  'compressed',
  'too_large',
  'unreadable',
  'too_many',
  'not_json',
  'contract_broken',
  'address',
] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/**
 * The outcome of a call: accepted (also a copy of an earlier one), not_for_towhook (kept, but of no kind that towhook
 * acts on), refused, or not_stored because Redis did not take it.
 */
export const WEBHOOK_OUTCOMES = ['accepted', 'not_for_towhook', 'not_stored', ...REFUSAL_REASONS] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];

/** The reason of a refusal; null for the other outcomes. */
export function refusalReasonOf(outcome: WebhookOutcome): RefusalReason | null {
  return REFUSAL_REASONS.find((reason) => reason === outcome) ?? null;
}

/** What all receivers answered on one path. Times are Redis time, ms since the epoch. */
export interface PathAnswers {
  /** When a call was last accepted; null before the first. */
  readonly acceptedAtMs: number | null;
  /**
   * Refused calls since then, by reason, after the last day without one. Those on other paths: since the last accepted
   * webhook.
   */
  readonly refused: Readonly<Partial<Record<RefusalReason, number>>>;
  /** The first and the last of them. */
  readonly refusedSinceMs: number | null;
  readonly refusedAtMs: number | null;
  /** Seconds that the last timestamp outside the tolerance was behind our clock; negative when it was ahead. */
  readonly behindSeconds: number | null;
  /** True if headers of the last refused call show that it came through a proxy. */
  readonly isProxied: boolean;
}
