import {
  REFUSAL_REASONS,
  REFUSALS_REMEMBERED_MS,
  WEBHOOK_PATHS,
  type AnswersByPath,
  type PathAnswers,
  type RefusalReason,
  type WebhookPath,
} from './webhook-answers';

/** The rules of the alarms about refused webhooks: when they hold, and what the likely cause is. */

type RefusedCounts = PathAnswers['refused'];

/** Webhooks are refused on a path, and none was accepted since. */
export interface RefusedWebhooks {
  readonly path: WebhookPath;
  readonly count: number;
  readonly sinceMs: number;
  /** The likely cause. */
  readonly reason: RefusalReason;
  /** Only with the reason `timestamp_off`: see `PathAnswers`. */
  readonly behindSeconds: number | null;
  readonly isProxied: boolean;
}

/** They prove that the secret is right, so they are the cause even if other calls are refused for other reasons. */
const PROVED: readonly RefusalReason[] = ['body_changed', 'timestamp_off'];
/** Only a sender that signs causes them. Strangers cause the other reasons too. */
const SIGNED: readonly RefusalReason[] = ['signature_wrong', 'shared_secret_wrong'];
/** Once a webhook was accepted, this few calls of strangers raise no alarm. They call other addresses all the time. */
const STRANGE_CALLS_BORNE: Readonly<Record<WebhookPath, number>> = {
  tow_request: 2,
  tow_invoice: 2,
  other: Infinity,
};

/**
 * The paths on which webhooks are refused. The alarm of a path ends with its next accepted call, or a day after its last
 * refused one. That of calls to other addresses ends with the next accepted webhook; once one was accepted, only a
 * sender that signs raises it.
 */
export function refusedWebhooks(answers: AnswersByPath, nowMs: number): readonly RefusedWebhooks[] {
  const acceptedAtMs = Math.max(...WEBHOOK_PATHS.map((path) => answers[path].acceptedAtMs ?? 0));
  return WEBHOOK_PATHS.flatMap((path) => {
    const { refused, refusedSinceMs, refusedAtMs, isProxied, behindSeconds } = answers[path];
    if (refusedSinceMs === null || refusedAtMs === null || nowMs - refusedAtMs > REFUSALS_REMEMBERED_MS) return [];
    if (path === 'other' && acceptedAtMs >= refusedAtMs) return [];
    const reason = likelyCause(refused, acceptedAtMs > 0 ? STRANGE_CALLS_BORNE[path] : 0);
    if (reason === null) return [];
    const count = countOf(refused, REFUSAL_REASONS);
    const skew = reason === 'timestamp_off' ? behindSeconds : null;
    return [{ path, count, sinceMs: refusedSinceMs, reason, behindSeconds: skew, isProxied }];
  });
}

/** Half of the webhooks or more were refused lately, while others are accepted. */
export interface MostlyRefused {
  readonly refused: number;
  /** All calls of the same time. */
  readonly made: number;
  readonly reason: RefusalReason;
}

/** So few refused calls may be those of a stranger. */
const REFUSED_BORNE = 10;

/**
 * Whether at least half of the calls of the last minutes were refused. It finds what `refusedWebhooks` does not: one of
 * several receivers, or one of several senders, has a wrong secret. Null if not.
 */
export function mostlyRefused(lately: { refused: RefusedCounts; accepted: number }): MostlyRefused | null {
  const { refused, accepted } = lately;
  const count = countOf(refused, REFUSAL_REASONS);
  const reason = likelyCause(refused, REFUSED_BORNE);
  return reason !== null && count > REFUSED_BORNE && count >= accepted
    ? { refused: count, made: count + accepted, reason }
    : null;
}

/** The likely cause; null if at most `borne` calls were refused, and all for reasons that strangers cause. */
function likelyCause(refused: RefusedCounts, borne: number): RefusalReason | null {
  const proved = PROVED.find((reason) => countOf(refused, [reason]) > 0);
  if (proved !== undefined) return proved;
  const signed = mostFrequent(refused, SIGNED);
  if (signed !== null) return signed;
  return countOf(refused, REFUSAL_REASONS) > borne ? mostFrequent(refused, REFUSAL_REASONS) : null;
}

function mostFrequent(refused: RefusedCounts, among: readonly RefusalReason[]): RefusalReason | null {
  const [first] = among
    .filter((reason) => countOf(refused, [reason]) > 0)
    .toSorted((one, other) => countOf(refused, [other]) - countOf(refused, [one]));
  return first ?? null;
}

function countOf(refused: RefusedCounts, reasons: readonly RefusalReason[]): number {
  return reasons.reduce((sum, reason) => sum + (refused[reason] ?? 0), 0);
}
