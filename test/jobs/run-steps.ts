/** Never ends a run before it has nothing more to do. */
export const unstopped = () => false;

/** Ends a run after this many steps, which a worker that stops does too. */
export function stoppedAfter(steps: number): () => boolean {
  let taken = 0;
  return () => {
    taken += 1;
    return taken >= steps;
  };
}
