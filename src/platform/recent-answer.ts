import type { Clock } from './clock';

/**
 * A question whose answer serves everybody who asks while it is being found out, and until `keptMs` after it was asked.
 * A failure is shared and kept like an answer.
 */
export function recentAnswer<T>(
  ask: () => Promise<T>,
  { keptMs, clock }: { keptMs: number; clock: Pick<Clock, 'monotonicMs'> },
): () => Promise<T> {
  let last: { readonly answer: Promise<T>; readonly askedMs: number; isOpen: boolean } | null = null;
  return () => {
    if (last !== null && (last.isOpen || clock.monotonicMs() - last.askedMs < keptMs)) return last.answer;
    const asking = { answer: ask(), askedMs: clock.monotonicMs(), isOpen: true };
    const settled = () => {
      asking.isOpen = false;
    };
    asking.answer.then(settled, settled);
    last = asking;
    return asking.answer;
  };
}
