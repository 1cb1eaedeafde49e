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
 * What a worker gets done, and whether work waited meanwhile. A part makes progress when a run of it ends, or when the
 * lease of a call that may last long, an upload, is renewed. Which process queued the work does not matter.
 */
export interface WorkerProgress {
  runBegan(queue: QueueName): void;
  progressed(part: WorkerPart): void;
  /** When the last run of this queue began, by the monotonic clock, ms; null before the first one. */
  lastRunBeganMs(queue: QueueName): number | null;
  /** Records which parts have waiting work. */
  checked(waiting: ReadonlySet<WorkerPart>): void;
  stalledMs(part: WorkerPart): number;
  /** The part that is stalled longest; null when no part has waiting work. */
  longestStall(): Stall | null;
}

export function createWorkerProgress(clock: Clock): WorkerProgress {
  const stalledSince = new Map<WorkerPart, number>();
  const began = new Map<QueueName, number>();
  let checkedAtMs = clock.monotonicMs();
  const stalledMs = (part: WorkerPart) => checkedAtMs - (stalledSince.get(part) ?? checkedAtMs);
  return {
    runBegan: (queue) => void began.set(queue, clock.monotonicMs()),
    progressed: (part) => void stalledSince.delete(part),
    lastRunBeganMs: (queue) => began.get(queue) ?? null,
    checked(waiting) {
      checkedAtMs = clock.monotonicMs();
      for (const part of stalledSince.keys()) if (!waiting.has(part)) stalledSince.delete(part);
      for (const part of waiting) if (!stalledSince.has(part)) stalledSince.set(part, checkedAtMs);
    },
    stalledMs,
    longestStall() {
      const stalls = [...stalledSince.keys()].map((part) => ({ part, ms: stalledMs(part) }));
      return stalls.toSorted((a, b) => b.ms - a.ms)[0] ?? null;
    },
  };
}
