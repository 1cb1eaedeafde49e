import type { Clock } from '../platform/clock';
import type { QueueName } from './queues';

/** Watches whether handed-out work is done: liveness is progress, not a process that breathes. */
export interface Progress {
  /** The pump has handed out work of this queue. */
  handedOut(queue: QueueName): void;
  /** A job of this queue has ended. */
  ended(queue: QueueName): void;
  /** For how long work has been handed out to a queue of which no job ended since, ms; 0 when all moves. */
  standstillMs(): number;
}

export function createProgress(clock: Clock): Progress {
  const waitingSinceMs = new Map<QueueName, number>();
  return {
    handedOut(queue) {
      if (!waitingSinceMs.has(queue)) waitingSinceMs.set(queue, clock.monotonicMs());
    },
    ended(queue) {
      waitingSinceMs.delete(queue);
    },
    standstillMs() {
      const oldestMs = Math.min(...waitingSinceMs.values());
      return Number.isFinite(oldestMs) ? clock.monotonicMs() - oldestMs : 0;
    },
  };
}
