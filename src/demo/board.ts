import type { TowView } from '../contracts/operator';
import { isSettled } from '../domain/outbox/outbox';
import { isTerminal } from '../domain/tow/tow';
import type { OperatorClient } from './client';

/** The current state of every tow of the demo, updated by the event stream. */
export interface DemoBoard {
  /** The known tows, in the order they were requested. */
  tows(): readonly TowView[];
  /** Resolves with the tow as soon as `isWanted` accepts it. Rejects when towhook cannot be read. */
  until(ref: string, isWanted: (tow: TowView) => boolean): Promise<TowView>;
}

export function createBoard(
  client: Pick<OperatorClient, 'tow' | 'watch'>,
  refs: () => readonly string[],
  signal: AbortSignal,
): DemoBoard {
  const views = new Map<string, TowView>();
  /** What checks for a wanted tow, and what ends its wait. */
  const waiters = new Map<() => void, (error: unknown) => void>();
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
    for (const check of waiters.keys()) check();
    if (again) await read(ref);
  };
  let failure: { readonly error: unknown } | null = null;
  const fail = (error: unknown) => {
    if (signal.aborted) return;
    failure = { error };
    for (const reject of waiters.values()) reject(error);
    waiters.clear();
  };
  // Changes published before the stream was open, or after it failed, are found by polling.
  void client.watch((ref) => void read(ref).catch(fail), signal).catch(() => {});
  const sweep = setInterval(() => {
    for (const ref of refs()) if (!isFinished(views.get(ref))) void read(ref).catch(fail);
  }, 2000);
  signal.addEventListener('abort', () => clearInterval(sweep));

  return {
    tows: () => refs().flatMap((ref) => views.get(ref) ?? []),
    until: (ref, isWanted) =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure.error);
        const check = () => {
          const view = views.get(ref);
          if (!view || !isWanted(view)) return;
          waiters.delete(check);
          resolve(view);
        };
        waiters.set(check, reject);
        check();
        void read(ref).catch(fail);
      }),
  };
}

/** True when the tow is over and all its reports are settled. */
export function isFinished(tow: TowView | undefined): boolean {
  if (!tow || !isTerminal(tow.state)) return false;
  return tow.reports.every(({ state }) => isSettled(state));
}
