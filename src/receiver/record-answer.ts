import type { Request } from 'express';
import type { FieldRule } from '../domain/refusal';
import {
  REFUSAL_REASONS,
  refusalReasonOf,
  type RefusalReason,
  type WebhookOutcome,
  type WebhookPath,
} from '../domain/webhook/webhook-answers';
import type { Log } from '../platform/log/log';
import type { Metrics } from '../platform/log/metrics';
import type { CountedRefusal, WebhookAnswerStore } from '../workflow/webhook/webhook-port';
import { kindOfPath } from './read-call';
import type { RefusedCalls } from './refused-calls';

/** How a call was answered. */
export interface AnsweredCall {
  readonly httpStatus: number;
  readonly outcome: WebhookOutcome;
  /** With the outcome `timestamp_off`: how far the timestamp is behind our clock, if it can be read. */
  readonly behindSeconds?: number | undefined;
  /** The rules that the content breaks. */
  readonly details?: readonly FieldRule[];
}

export interface AnswerRecorder {
  readonly metrics: Metrics;
  readonly tally: Pick<AnswerTally, 'accepted' | 'refused'>;
  readonly refusedCalls: Pick<RefusedCalls, 'keep'>;
}

/** Headers that proxies add. */
const PROXY_HEADERS = ['via', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'];

/** Counts an answer, and keeps a refused call. Only a POST may be a webhook: other methods count in the metrics alone. */
export function recordAnswer(request: Request, answered: AnsweredCall, recorder: AnswerRecorder): void {
  const { metrics, tally, refusedCalls } = recorder;
  const { httpStatus, outcome, behindSeconds, details = [] } = answered;
  // Another event on the path of a webhook is no sign that its webhooks come.
  const path = outcome === 'not_for_towhook' ? 'other' : (kindOfPath(request.path) ?? 'other');
  metrics.deliveryAnswered(path, httpStatus, outcome);
  if (outcome === 'accepted' || outcome === 'not_for_towhook') return tally.accepted(path);
  const reason = refusalReasonOf(outcome);
  if (reason === null || request.method !== 'POST') return;
  const isProxied = PROXY_HEADERS.some((name) => request.headers[name] !== undefined);
  refusedCalls.keep(request, { reason, httpStatus, details });
  tally.refused(path, { reason, behindSeconds: readable(behindSeconds), isProxied });
}

/** Counts a call that was refused before the receiver saw it. The path is null when it could not be read. */
export function recordUnread(
  httpStatus: number,
  path: string | null,
  { metrics, tally, log }: Pick<AnswerRecorder, 'metrics' | 'tally'> & { readonly log: Log },
): void {
  const kind = path === null ? 'other' : (kindOfPath(path) ?? 'other');
  metrics.deliveryAnswered(kind, httpStatus, 'unreadable');
  // Only a POST has its path here. Others may be no webhook, and strangers make them all the time.
  if (path !== null) tally.refused(kind, { reason: 'unreadable', behindSeconds: null, isProxied: false });
  log.warn('delivery.unread', { kind, http_status: httpStatus });
}

/** Null for a timestamp that is no number. */
function readable(seconds: number | undefined): number | null {
  return seconds !== undefined && Number.isFinite(seconds) ? seconds : null;
}

/** Answers of this process that are not stored yet. Memory is bounded: one number per path and reason. */
export interface AnswerTally {
  accepted(path: WebhookPath): void;
  refused(path: WebhookPath, call: CountedRefusal): void;
  /** Stores what was counted. Rejects when Redis does not; the next flush stores it then. */
  flush(): Promise<void>;
}

interface PathTally {
  hasAccepted: boolean;
  refused: Partial<Record<RefusalReason, number>>;
  behindSeconds: number | null;
  isProxied: boolean;
}

/** Counts what a receiver answers, so that an answer costs no call of Redis. */
export function createAnswerTally(store: Pick<WebhookAnswerStore, 'add'>): AnswerTally {
  let counted = new Map<WebhookPath, PathTally>();
  const tallyOf = (path: WebhookPath): PathTally => {
    const tally = counted.get(path) ?? { hasAccepted: false, refused: {}, behindSeconds: null, isProxied: false };
    counted.set(path, tally);
    return tally;
  };
  return {
    accepted(path) {
      const tally = tallyOf(path);
      tally.hasAccepted = true;
      tally.refused = {};
    },
    refused(path, { reason, behindSeconds, isProxied }) {
      const tally = tallyOf(path);
      tally.refused[reason] = (tally.refused[reason] ?? 0) + 1;
      tally.behindSeconds = behindSeconds ?? tally.behindSeconds;
      tally.isProxied = isProxied;
    },
    async flush() {
      if (counted.size === 0) return;
      const taken = counted;
      counted = new Map();
      try {
        await store.add([...taken].map(([path, tally]) => ({ ...tally, path })));
      } catch (error) {
        for (const [path, earlier] of taken) counted.set(path, together(earlier, counted.get(path)));
        throw error;
      }
    },
  };
}

function together(earlier: PathTally, later: PathTally | undefined): PathTally {
  if (later === undefined) return earlier;
  if (later.hasAccepted) return later;
  const refused = { ...earlier.refused };
  for (const reason of REFUSAL_REASONS) {
    const count = (refused[reason] ?? 0) + (later.refused[reason] ?? 0);
    if (count > 0) refused[reason] = count;
  }
  return {
    hasAccepted: earlier.hasAccepted,
    refused,
    behindSeconds: later.behindSeconds ?? earlier.behindSeconds,
    isProxied: later.isProxied,
  };
}
