import type { Clock } from '../platform/clock';

/**
 * What the stream said lately, so that somebody who read something just before they began to watch misses nothing. Of what
 * was said of the same thing the last is kept: who hears it reads the present state.
 */
export interface RecentEvents {
  /** `subject`: what it is about, and how. */
  note(subject: string, text: string): void;
  /** What was said from this moment on, oldest first, as far as it is kept: 60 s. Null when that is more than `max`. */
  since(ms: number): readonly string[] | null;
}

const KEPT_MS = 60_000;
/** The clock of another console, on which the page was made, may be ahead of ours by so much. */
const SKEW_MS = 500;

export function createRecentEvents(clock: Clock, max: number): RecentEvents {
  // In the order they were said last.
  const said = new Map<string, { readonly text: string; readonly ms: number }>();
  /** When the latest event was said that had to make room. */
  let droppedMs = Number.NEGATIVE_INFINITY;
  return {
    note(subject, text) {
      const nowMs = clock.nowMs();
      said.delete(subject);
      said.set(subject, { text, ms: nowMs });
      for (const [old, { ms }] of said) {
        const isOld = nowMs - ms > KEPT_MS;
        if (!isOld && said.size <= max) break;
        if (!isOld) droppedMs = ms;
        said.delete(old);
      }
    },
    since(since) {
      const fromMs = since - SKEW_MS;
      return droppedMs >= fromMs ? null : [...said.values()].filter(({ ms }) => ms >= fromMs).map(({ text }) => text);
    },
  };
}
