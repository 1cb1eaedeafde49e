import { setTimeout as sleep } from 'node:timers/promises';
import { errorFacts, type Log } from '../platform/log';
import type { Progress } from './progress';
import type { QueueName, Queues } from './queues';

/** The due set of one queue, as the pump needs it. */
export interface Due {
  take(limit: number, forwardMs: number): Promise<readonly string[]>;
}

export interface PumpOptions {
  readonly queues: Queues;
  readonly due: Readonly<Record<QueueName, Due>>;
  readonly intervalMs: number;
  readonly progress: Progress;
  readonly log: Log;
}

const SLICE = 500;
/** A taken record that nobody settled is due again after this; a worker's claim moves its mark further. */
const FORWARD_MS = 10_000;

export interface Pump {
  /** Waits for the running turn; none starts after it. */
  stop(): Promise<void>;
}

/** Turns what is due into wake-ups, for ever: the only timer, and what makes lost jobs harmless. */
export function startPump(options: PumpOptions): Pump {
  const ending = new AbortController();
  const { signal } = ending;
  const run = async () => {
    while (!signal.aborted) {
      const turns = await Promise.all([turn('deliveries', options), turn('reports', options)]);
      // A full slice means that more is waiting.
      if (!turns.includes('full')) await sleep(options.intervalMs, undefined, { signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    async stop() {
      ending.abort();
      await running;
    },
  };
}

async function turn(queue: QueueName, options: PumpOptions): Promise<'full' | 'rest'> {
  try {
    const refs = await options.due[queue].take(SLICE, FORWARD_MS);
    if (refs.length > 0) {
      options.progress.handedOut(queue);
      await options.queues.wake(refs.map((ref) => ({ queue, ref })));
    }
    return refs.length === SLICE ? 'full' : 'rest';
  } catch (error) {
    options.log.debug('pump.failed', { queue, ...errorFacts(error) });
    return 'rest';
  }
}
