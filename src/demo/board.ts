import type { TowView } from '../contracts/operator';
import { isTerminal as isTerminalState } from '../domain/tow';
import type { OperatorClient } from './client';

/** The current state of every tow of the demo, updated by the event stream. */
export interface DemoBoard {
  /** The known tows, in the order they were requested. */
  tows(): readonly TowView[];
  /** Resolves with the tow as soon as `isWanted` accepts it. */
  until(ref: string, isWanted: (tow: TowView) => boolean): Promise<TowView>;
}

export function createBoard(
  client: Pick<OperatorClient, 'tow' | 'watch'>,
  refs: () => readonly string[],
  signal: AbortSignal,
): DemoBoard {
  const views = new Map<string, TowView>();
  const waiters = new Set<() => void>();
  const reading = new Map<string, boolean>();

  const read = async (ref: string): Promise<void> => {
    // A change during a read requires another read.
    if (reading.has(ref)) {
      reading.set(ref, true);
      return;
    }
    reading.set(ref, false);
    const view = await client.tow(ref);
    if (view) views.set(ref, view);
    const again = reading.get(ref);
    reading.delete(ref);
    for (const check of waiters) check();
    if (again) await read(ref);
  };
  const ignoreEnd = (error: unknown) => {
    if (!signal.aborted) throw error;
  };
  void client.watch((ref) => void read(ref).catch(ignoreEnd), signal).catch(ignoreEnd);
  // Changes published before the stream was open are found by polling.
  const sweep = setInterval(() => {
    for (const ref of refs()) if (!isFinished(views.get(ref))) void read(ref).catch(ignoreEnd);
  }, 2000);
  signal.addEventListener('abort', () => clearInterval(sweep));

  return {
    tows: () => refs().flatMap((ref) => views.get(ref) ?? []),
    until: (ref, isWanted) =>
      new Promise((resolve) => {
        const check = () => {
          const view = views.get(ref);
          if (!view || !isWanted(view)) return;
          waiters.delete(check);
          resolve(view);
        };
        waiters.add(check);
        check();
        void read(ref).catch(ignoreEnd);
      }),
  };
}

/** True when the tow is over and all its reports are settled. */
export function isFinished(tow: TowView | undefined): boolean {
  if (!tow || !isTerminalState(tow.state)) return false;
  return tow.reports.every(({ state }) => state === 'accepted' || state === 'waived');
}
