import { DELIVERY_KINDS } from '../vocabulary';
import {
  REFUSAL_REASONS,
  REFUSALS_REMEMBERED_MS,
  type PathAnswers,
  type WebhookPath,
} from '../webhook/webhook-answers';

/** The rules by which the answers of all receivers are counted together. */

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

export const NO_ANSWERS: PathAnswers = {
  acceptedAtMs: null,
  refused: {},
  refusedSinceMs: null,
  refusedAtMs: null,
  behindSeconds: null,
  isProxied: false,
};

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
