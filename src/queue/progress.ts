import type { QueueName } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';

/** A part of a worker that can stall by itself: the runs of a queue, or the scheduler of that queue. */
export type WorkerPart = QueueName | `scheduler of ${QueueName}`;

export interface Stall {
  readonly part: WorkerPart;
  /** From the first to the last check that saw waiting work, without progress of the part in between, ms. */
  readonly ms: number;
}

/**
 * Liveness by throughput: a part is stalled when consecutive checks have seen waiting work and it has completed no run. A
 * call that may outlast the limit, an upload, counts by the renewals of its lease.
 * It does not matter which process queued the work, or whether another process works on the queue too.
 */
export interface WorkerProgress {
  runBegan(queue: QueueName): void;
  runEnded(part: WorkerPart): void;
  /** A call of the queue goes on within its time limit, and its lease was renewed. */
  leaseRenewed(queue: QueueName): void;
  /** When the last run of this queue began, by the monotonic clock, ms; null before the first one. */
  lastRunBeganMs(queue: QueueName): number | null;
  /** Records one check. A check that sees no waiting work ends the stall of the part. */
  observed(part: WorkerPart, hasWaitingWork: boolean): void;
  /** Drops all recorded checks. */
  forgetChecks(): void;
  stalledMs(part: WorkerPart): number;
  /** The part that is stalled longest; null when no part has waiting work. */
  longestStall(): Stall | null;
  /** True once a run of this part has ended, a lease of it was renewed, or a check has seen no waiting work for it. */
  hasProgressed(part: WorkerPart): boolean;
}

export function createWorkerProgress(clock: Clock): WorkerProgress {
  const waiting = new Map<WorkerPart, { sinceMs: number; seenMs: number }>();
  const progressed = new Set<WorkerPart>();
  const began = new Map<QueueName, number>();
  const progresses = (part: WorkerPart) => {
    waiting.delete(part);
    progressed.add(part);
  };
  return {
    runBegan: (queue) => void began.set(queue, clock.monotonicMs()),
    runEnded: progresses,
    leaseRenewed: progresses,
    lastRunBeganMs: (queue) => began.get(queue) ?? null,
    observed(part, hasWaitingWork) {
      const seenMs = clock.monotonicMs();
      if (hasWaitingWork) waiting.set(part, { sinceMs: waiting.get(part)?.sinceMs ?? seenMs, seenMs });
      else progresses(part);
    },
    forgetChecks: () => waiting.clear(),
    stalledMs(part) {
      const wait = waiting.get(part);
      return wait ? wait.seenMs - wait.sinceMs : 0;
    },
    longestStall() {
      const stalls = [...waiting].map(([part, { sinceMs, seenMs }]) => ({ part, ms: seenMs - sinceMs }));
      return stalls.toSorted((a, b) => b.ms - a.ms)[0] ?? null;
    },
    hasProgressed: (part) => progressed.has(part),
  };
}
