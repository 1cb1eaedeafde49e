import type { TowView } from '../../contracts/operator';
import { isTerminal as isTerminalState } from '../../domain/tow';
import type { OperatorClient } from './client';

/** The latest sight of every tow of the demo, kept fresh by the event stream. */
export interface Board {
  /** The tows in the order they were requested; those not known yet are missing. */
  tows(): readonly TowView[];
  /** Resolves with the tow as soon as it is as wanted. */
  until(ref: string, isWanted: (tow: TowView) => boolean): Promise<TowView>;
}

export function createBoard(
  client: Pick<OperatorClient, 'tow' | 'watch'>,
  refs: () => readonly string[],
  signal: AbortSignal,
): Board {
  const views = new Map<string, TowView>();
  const waiters = new Set<() => void>();
  const reading = new Map<string, boolean>();

  const read = async (ref: string): Promise<void> => {
    // A change while a tow is being read means that it must be read once more.
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
  // A change published before the stream was open would never be seen.
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

/** True when the tow's life is over and nothing is owed to the service any more. */
export function isFinished(tow: TowView | undefined): boolean {
  if (!tow || !isTerminalState(tow.state)) return false;
  return tow.reports.every(({ state }) => state === 'accepted' || state === 'waived');
}
