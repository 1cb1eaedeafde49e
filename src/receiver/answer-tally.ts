import { REFUSAL_REASONS, type RefusalReason, type WebhookPath } from '../domain/webhook-answers';
import type { CountedRefusal, WebhookAnswerStore } from '../workflow/webhook-port';

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
