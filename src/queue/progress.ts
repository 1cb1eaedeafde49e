import type { Clock } from '../platform/clock';
import type { QueueName } from './queues';

/** What of a worker can stand still by itself: the turns of a queue, and the pump that hands its work out. */
export type Part = QueueName | `pump of ${QueueName}`;

export interface Standstill {
  readonly part: Part;
  /** For how long work of this part has been seen to wait while no turn of it ended, ms. */
  readonly ms: number;
}

/**
 * Whether a worker makes progress: what counts is what it gets done, not that it breathes. It stands still while work is
 * seen to wait, look after look, and no turn of its own ends. Who handed the work out, and who else does it, is all one.
 */
export interface Progress {
  /** A turn of this queue has begun. */
  took(queue: QueueName): void;
  /** When a turn of this queue began last, by the monotonic clock, ms; null when none has. */
  lastTookMs(queue: QueueName): number | null;
  /** For how long work of this part has been seen to wait while no turn of it ended, ms. */
  standingMs(part: Part): number;
  /** A turn of this part has ended. */
  ended(part: Part): void;
  /** Whether work of this part waits, as seen now. */
  seen(part: Part, waits: boolean): void;
  /** What was seen before no longer counts. */
  forget(): void;
  /** The part that stands longest as of what was seen last; null when nothing waits. */
  standstill(): Standstill | null;
  /** Whether a turn of this part has ever ended, or none was wanted. */
  hasMoved(part: Part): boolean;
}

export function createProgress(clock: Clock): Progress {
  const waiting = new Map<Part, { sinceMs: number; seenMs: number }>();
  const moved = new Set<Part>();
  const took = new Map<QueueName, number>();
  const moves = (part: Part) => {
    waiting.delete(part);
    moved.add(part);
  };
  return {
    took: (queue) => void took.set(queue, clock.monotonicMs()),
    lastTookMs: (queue) => took.get(queue) ?? null,
    standingMs(part) {
      const wait = waiting.get(part);
      return wait ? wait.seenMs - wait.sinceMs : 0;
    },
    ended: moves,
    seen(part, waits) {
      const seenMs = clock.monotonicMs();
      if (waits) waiting.set(part, { sinceMs: waiting.get(part)?.sinceMs ?? seenMs, seenMs });
      else moves(part);
    },
    forget: () => waiting.clear(),
    standstill() {
      const standing = [...waiting].map(([part, { sinceMs, seenMs }]) => ({ part, ms: seenMs - sinceMs }));
      return standing.toSorted((a, b) => b.ms - a.ms)[0] ?? null;
    },
    hasMoved: (part) => moved.has(part),
  };
}
