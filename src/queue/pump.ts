import { setTimeout as sleep } from 'node:timers/promises';
import { errorFacts, type Log } from '../platform/log';
import { within } from '../platform/within';
import type { Progress } from './progress';
import { QUEUE_NAMES, type QueueName, type Queues } from './queues';

/** The due set of one queue, as the pump needs it. */
export interface Due {
  take(limit: number, forwardMs: number): Promise<readonly string[]>;
}

export interface PumpOptions {
  readonly queues: Queues;
  readonly due: Readonly<Record<QueueName, Due>>;
  readonly intervalMs: number;
  readonly progress: Progress;
  /** Throttled: while Redis is away every turn fails. */
  readonly log: Log;
}

const SLICE = 500;
/** A taken record that nobody settled is due again after this; a worker's claim moves its mark further. */
const FORWARD_MS = 10_000;

/** What a stop waits for a turn that hangs. */
const STOP_MS = 1000;

export interface Pump {
  /** Waits a moment for the running turn; none starts after it. */
  stop(): Promise<void>;
}

/** What was taken from the due set of a queue and not handed out yet. */
interface Hand {
  readonly queue: QueueName;
  refs: readonly string[];
}

/** Turns what is due into wake-ups, for ever: the only timer, and what makes lost jobs harmless. */
export function startPump(options: PumpOptions): Pump {
  const ending = new AbortController();
  const { signal } = ending;
  /** Each queue by itself: a turn that hangs holds up its own queue and no other. */
  const run = async (queue: QueueName) => {
    const hand: Hand = { queue, refs: [] };
    while (!signal.aborted) {
      const how = await turn(hand, options);
      // A full slice means that more is waiting.
      if (how !== 'full') await sleep(options.intervalMs, undefined, { signal }).catch(() => {});
    }
  };
  const running = Promise.all(QUEUE_NAMES.map(run));
  return {
    async stop() {
      ending.abort();
      await within(STOP_MS, running);
    },
  };
}

/** What could not be handed out stays in the hand: its marks have been moved, and nobody would come back to it soon. */
async function turn(hand: Hand, options: PumpOptions): Promise<'full' | 'rest'> {
  const { queue } = hand;
  try {
    if (hand.refs.length === 0) hand.refs = await options.due[queue].take(SLICE, FORWARD_MS);
    const { length } = hand.refs;
    if (length > 0) await options.queues.wake(hand.refs.map((ref) => ({ queue, ref })));
    hand.refs = [];
    options.progress.ended(`pump of ${queue}`);
    return length === SLICE ? 'full' : 'rest';
  } catch (error) {
    options.log.warn('pump.failed', { queue, ...errorFacts(error), stack: undefined });
    return 'rest';
  }
}
