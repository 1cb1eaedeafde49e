import { SingleBar } from 'cli-progress';

/** How far something has come. */
export interface Progress {
  /** So much of it is done. */
  readonly at: (done: number) => void;
  /** Takes the bar away again. */
  readonly end: () => void;
}

/** A bar on standard error; without a known total it counts. */
export function progressBar(what: string, total: number | null): Progress {
  const format = total === null ? `${what}: {value}` : `${what} [{bar}] {percentage}% {value}/{total}`;
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true, clearOnComplete: true });
  // One that counts is never complete by itself.
  bar.start(total ?? Number.MAX_SAFE_INTEGER, 0);
  return { at: (done) => bar.update(done), end: () => bar.stop() };
}
