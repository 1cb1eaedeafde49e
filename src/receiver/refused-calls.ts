import type { Request } from 'express';
import type { FieldRule } from '../domain/refusal';
import type { RefusalReason } from '../domain/webhook-answers';
import type { Clock } from '../platform/clock';
import { sourceOf } from '../platform/http';
import type { RefusedCallStore } from '../workflow/webhook-port';
import { describeRefusal } from './describe-refusal';

/** Refused calls of this process that are not stored yet. */
export interface RefusedCalls {
  /** Describes and keeps a call, unless enough of its kind wait to be stored. */
  keep(request: Request, refused: RefusedCallCause): void;
  /** Stores what was kept. What cannot be stored is dropped: the sender repeats it. */
  flush(): Promise<void>;
}

interface RefusedCallCause {
  readonly reason: RefusalReason;
  readonly httpStatus: number;
  readonly details: readonly FieldRule[];
}

/** Between two flushes. A flood then costs little, and calls refused for other reasons are kept nevertheless. */
const PER_SOURCE_MAX = 2;
const PER_REASON_MAX = 10;

export function createRefusedCalls(store: Pick<RefusedCallStore, 'keep'>, clock: Clock): RefusedCalls {
  let waiting: ReturnType<typeof describeRefusal>[] = [];
  const counts = new Map<string, number>();
  /** Counts one more under each name, or none if one of them is full. */
  const tryCount = (...limits: readonly (readonly [name: string, most: number])[]) => {
    if (limits.some(([name, most]) => (counts.get(name) ?? 0) >= most)) return false;
    for (const [name] of limits) counts.set(name, (counts.get(name) ?? 0) + 1);
    return true;
  };
  return {
    keep(request, refused) {
      const { reason } = refused;
      if (!tryCount([reason, PER_REASON_MAX], [`${reason} ${sourceOf(request.ip)}`, PER_SOURCE_MAX])) return;
      waiting.push(describeRefusal(request, { ...refused, nowMs: clock.nowMs() }));
    },
    async flush() {
      if (waiting.length === 0) return;
      const taken = waiting;
      waiting = [];
      counts.clear();
      await store.keep(taken);
    },
  };
}
