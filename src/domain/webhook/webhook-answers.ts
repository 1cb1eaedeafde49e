import { z } from 'zod';
import { nullableNumber } from '../stored';
import { DAY_MS } from '../timestamp';
import { DELIVERY_KINDS } from '../vocabulary';

/** What receivers answer to the calls that reach them, why they refuse a call, and how their answers are counted. */

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

/** Reasons that only a later version knows are kept. */
const refusedCounts: z.ZodType<Readonly<Partial<Record<RefusalReason, number>>>> = z
  .record(z.string(), z.number())
  .catch({});

/** What all receivers answered on one path. Times are Redis time, ms since the epoch. */
export const pathAnswers = z.object({
  /** When a call was last accepted; null before the first. */
  acceptedAtMs: nullableNumber,
  /**
   * Refused calls since then, by reason, after the last day without one. Those on other paths: since the last accepted
   * webhook.
   */
  refused: refusedCounts,
  /** The first and the last of them. */
  refusedSinceMs: nullableNumber,
  refusedAtMs: nullableNumber,
  /** Seconds that the last timestamp outside the tolerance was behind our clock; negative when it was ahead. */
  behindSeconds: nullableNumber,
  /** True if headers of the last refused call show that it came through a proxy. */
  isProxied: z.boolean().default(false),
});
export type PathAnswers = Readonly<z.output<typeof pathAnswers>>;

export const NO_ANSWERS: PathAnswers = pathAnswers.parse({});

/** Files of webhook secrets that cannot be used. The receiver goes on with the secrets it has. */
export const secretsFault = z.object({
  /** The variables that name the files. */
  variables: z.array(z.string()),
  host: z.string(),
  sinceMs: z.number(),
});
export type SecretsFault = Readonly<z.output<typeof secretsFault>>;

/** What one receiver answered on one path within about a second. */
export interface AnsweredCalls {
  readonly path: WebhookPath;
  /** True if it accepted a call. */
  readonly hasAccepted: boolean;
  /** Refused calls, those before the last accepted one left out. */
  readonly refused: PathAnswers['refused'];
  readonly behindSeconds: number | null;
  readonly isProxied: boolean;
}

export type AnswersByPath = Readonly<Record<WebhookPath, PathAnswers>>;

/** Adds answers to those that are stored. Paths without an answer keep their object. */
export function countAnswers(stored: AnswersByPath, answered: readonly AnsweredCalls[], nowMs: number): AnswersByPath {
  const counted = { ...stored };
  for (const calls of answered) counted[calls.path] = withCalls(counted, calls, nowMs);
  return counted;
}

/** Whether a webhook was accepted. Calls on other paths are no webhooks. */
export function hasAcceptedWebhook(answered: readonly AnsweredCalls[]): boolean {
  return answered.some(({ path, hasAccepted }) => hasAccepted && path !== 'other');
}

function withCalls(all: AnswersByPath, calls: AnsweredCalls, nowMs: number): PathAnswers {
  const { path, hasAccepted, refused, behindSeconds, isProxied } = calls;
  const accepted = hasAccepted ? { ...NO_ANSWERS, acceptedAtMs: nowMs } : all[path];
  const answers = behindSeconds === null ? accepted : { ...accepted, behindSeconds };
  const added = REFUSAL_REASONS.filter((reason) => refused[reason] !== undefined);
  if (added.length === 0) return answers;
  const earlier = isOver(all, path, accepted, nowMs)
    ? { ...NO_ANSWERS, acceptedAtMs: accepted.acceptedAtMs }
    : accepted;
  const counts = { ...earlier.refused };
  for (const reason of added) counts[reason] = (counts[reason] ?? 0) + (refused[reason] ?? 0);
  return {
    ...earlier,
    refused: counts,
    refusedSinceMs: earlier.refusedSinceMs ?? nowMs,
    refusedAtMs: nowMs,
    behindSeconds: behindSeconds ?? earlier.behindSeconds,
    isProxied,
  };
}

/**
 * Whether the refused calls before no longer count. They belong together until one is accepted, or until a day passes
 * without one. Those on other paths belong together until a webhook is accepted.
 */
function isOver(all: AnswersByPath, path: WebhookPath, { refusedAtMs }: PathAnswers, nowMs: number): boolean {
  if (refusedAtMs === null || nowMs - refusedAtMs > REFUSALS_REMEMBERED_MS) return true;
  return path === 'other' && DELIVERY_KINDS.some((kind) => (all[kind].acceptedAtMs ?? -Infinity) >= refusedAtMs);
}
