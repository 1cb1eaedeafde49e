import { z } from 'zod';
import { change } from '../change';
import { backoffMs } from '../outbox/backoff';
import { count, nullableNumber, nullableText, storedRecord } from '../stored';
import { HOUR_MS } from '../timestamp';
import { isChangeType, type ChangeType } from './changes';

/**
 * Subscriptions: every change is posted to an address until it is accepted. The order of each subject is kept; one whose
 * change is not accepted holds back its own later changes only. Times are ms since the epoch, Redis time.
 */

export const SUBSCRIPTION_INCLUDES = ['reference', 'record'] as const;

/** What a person has set. */
export const storedSubscription = storedRecord({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  /** The types that are wanted; empty: all. */
  types: z.array(z.string()).default([]),
  /** `record`: with the tow or violation as it is when it is sent. */
  include: z.enum(SUBSCRIPTION_INCLUDES),
  createdAt: z.string(),
  /** `whsec_…` */
  secret: z.string(),
  /** The secret before a rotation, which signs too until its time is over. */
  previous: z.object({ secret: z.string(), validUntilMs: z.number() }).nullable().default(null),
});
export type Subscription = Readonly<z.output<typeof storedSubscription>>;

/** The types that are sent; undefined: all. One that this version does not know is left out. */
export function wantedTypes({ types }: Subscription): ChangeType[] | undefined {
  return types.length === 0 ? undefined : types.filter(isChangeType);
}

/** A subject whose changes after this cursor are not accepted yet. */
const behindSubject = storedRecord({ after: z.string(), attempts: count, nextAtMs: z.number(), sinceMs: z.number() });
export type BehindSubject = z.output<typeof behindSubject>;

const lastAnswer = storedRecord({ atMs: z.number(), httpStatus: nullableNumber, problem: nullableText });

/** How far it has come. */
export const storedProgress = storedRecord({
  /** Every change up to here is accepted, or its subject is in `behind`. */
  cursor: z.string(),
  /** Subjects by name, `tow:TW-1`; '' are the changes that are about no record. */
  behind: z.record(z.string(), behindSubject).default({}),
  /** `failure`: nothing was accepted for too long. */
  pausedBy: z.enum(['person', 'failure']).nullable().default(null),
  /** When it was created or resumed last. */
  startedAtMs: z.number(),
  acceptedAtMs: nullableNumber,
  /** Failures in a row, of any subject. */
  failures: count,
  /** Its circuit: until then nothing is sent, and then one change alone. */
  openUntilMs: nullableNumber,
  /** Changes that were tried in vain while it was open. */
  failedProbes: count,
  lastAnswer: lastAnswer.nullable().default(null),
});
export type Progress = z.output<typeof storedProgress>;

/** What became of one delivery. `problem` is a short code. */
export type SubscriberAnswer =
  | { readonly isAccepted: true; readonly httpStatus: number }
  | {
      readonly isAccepted: false;
      readonly httpStatus: number | null;
      readonly problem: string;
      readonly notBeforeMs: number | null;
    };

/** Failures in a row, of more than one subject, that open the circuit. */
const OPENED_BY = 5;
/** With more subjects behind, no further changes are read. */
export const BEHIND_MAX = 1000;
const RETRY = { retryBaseMs: 2000, retryCapMs: HOUR_MS };

/** A subscription that begins behind a cursor. */
export function newProgress(cursor: string, nowMs: number): Progress {
  return storedProgress.parse({ cursor, startedAtMs: nowMs });
}

/** The same with everything after another cursor to be sent again. */
export function replayedFrom(progress: Progress, cursor: string): Progress {
  return { ...progress, cursor, behind: {}, failures: 0, openUntilMs: null };
}

/** The same, sending again: what has failed before counts no more. */
export function resumed(progress: Progress, nowMs: number): Progress {
  const behind = Object.entries(progress.behind).map(([subject, { after }]): [string, BehindSubject] => [
    subject,
    { after, attempts: 0, nextAtMs: nowMs, sinceMs: nowMs },
  ]);
  return {
    ...progress,
    pausedBy: null,
    startedAtMs: nowMs,
    failures: 0,
    openUntilMs: null,
    behind: Object.fromEntries(behind),
  };
}

/**
 * Keeps an answer of the receiver. `after`: the cursor before the change that it was about; `isProbe`: it was tried while
 * the circuit was open.
 */
export function keepAnswer(
  progress: Progress,
  { subject, after }: { readonly subject: string; readonly after: string },
  answer: SubscriberAnswer,
  { nowMs, jitter, isProbe }: { readonly nowMs: number; readonly jitter: number; readonly isProbe: boolean },
): void {
  const { httpStatus } = answer;
  progress.lastAnswer = { atMs: nowMs, httpStatus, problem: answer.isAccepted ? null : answer.problem };
  if (answer.isAccepted) {
    change(progress, { acceptedAtMs: nowMs, failures: 0, openUntilMs: null, failedProbes: 0 });
    return;
  }
  const { notBeforeMs } = answer;
  const was = progress.behind[subject];
  // What fails while the circuit is open says nothing about the subject.
  const attempts = (was?.attempts ?? 0) + (progress.openUntilMs === null || !was ? 1 : 0);
  const delayMs = backoffMs({ failures: attempts - 1, notBeforeMs, nowMs, jitter }, RETRY);
  progress.behind[subject] = { after, attempts, nextAtMs: nowMs + delayMs, sinceMs: was?.sinceMs ?? nowMs };
  progress.failures += 1;
  if (isProbe) progress.failedProbes += 1;
  // Those that were under way when it opened say no more.
  const opens = progress.openUntilMs === null && progress.failures >= OPENED_BY;
  if (!isProbe && !(opens && Object.keys(progress.behind).length > 1)) return;
  const { failedProbes: failures } = progress;
  progress.openUntilMs = nowMs + backoffMs({ failures, notBeforeMs, nowMs, jitter }, RETRY);
}

/** Leaves a subject for later that was not tried, because the circuit has opened. */
export function leaveForLater(progress: Progress, subject: string, after: string, nowMs: number): void {
  progress.behind[subject] ??= { after, attempts: 0, nextAtMs: nowMs, sinceMs: nowMs };
}

/** The subjects that are set aside: they fail for too long, and the receiver does not fail for all. */
export function givenUp({ behind, openUntilMs }: Progress, giveUpMs: number, nowMs: number): string[] {
  if (openUntilMs !== null) return [];
  return Object.entries(behind)
    .filter(([, { sinceMs }]) => nowMs - sinceMs >= giveUpMs)
    .map(([subject]) => subject);
}

/** Whether it is paused, because the receiver fails for all, and has accepted nothing for too long. */
export function isHopeless(progress: Progress, giveUpMs: number, nowMs: number): boolean {
  const { openUntilMs, acceptedAtMs, startedAtMs } = progress;
  return openUntilMs !== null && nowMs - Math.max(acceptedAtMs ?? 0, startedAtMs) >= giveUpMs;
}

/** When it has something to send by itself, without a new change; null while it has not. */
export function dueAtMs({ pausedBy, openUntilMs, behind }: Progress): number | null {
  if (pausedBy !== null) return null;
  const times = Object.values(behind).map(({ nextAtMs }) => nextAtMs);
  if (openUntilMs !== null) return openUntilMs;
  return times.length === 0 ? null : Math.min(...times);
}
