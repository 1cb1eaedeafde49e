import { errorFacts, type Log } from '../platform/log';
import { within } from '../platform/within';
import type { Progress } from './progress';
import { QUEUE_NAMES, type QueueName, type Queues } from './queues';

/** The schedule of one queue, as the poller needs it. */
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
/** With less room than this the poller waits a moment for the workers. */
const ROOM_MIN = 100;
const CROWDED_MS = 20;
/** A taken record is due again after this, unless a worker settled it; a claim schedules it for later. */
const FORWARD_MS = 10_000;

/** What a stop waits for a turn that hangs. */
const STOP_MS = 1000;

export interface Pump {
  /** Something of this queue is due now. */
  nudge(queue: QueueName): void;
  /** Waits a moment for the running turn; none starts after it. */
  stop(): Promise<void>;
}

/** What was taken from the schedule of a queue and is not in BullMQ yet. */
interface Hand {
  readonly queue: QueueName;
  refs: readonly string[];
}

/** Turns what is due into jobs until it is stopped: the only timer, and what makes lost jobs harmless. */
export function startPump(options: PumpOptions): Pump {
  const ending = new AbortController();
  const { signal } = ending;
  const rests = new Map<QueueName, Rest>();
  /** Each queue by itself: a turn that hangs holds up its own queue and no other. */
  const run = async (queue: QueueName) => {
    const hand: Hand = { queue, refs: [] };
    rests.set(queue, { isNudged: false, wake: () => {} });
    while (!signal.aborted) {
      const how = await turn(hand, options);
      // A full slice means that more is waiting.
      const pauseMs = how === 'crowded' ? Math.min(CROWDED_MS, options.intervalMs) : options.intervalMs;
      if (how !== 'full') await restUntilNudged(rests.get(queue), pauseMs, signal);
    }
  };
  const running = Promise.all(QUEUE_NAMES.map(run));
  return {
    nudge(queue) {
      const rest = rests.get(queue);
      if (!rest) return;
      rest.isNudged = true;
      rest.wake();
    },
    async stop() {
      ending.abort();
      for (const { wake } of rests.values()) wake();
      await within(STOP_MS, running);
    },
  };
}

/** A queue that cannot be counted still takes jobs. */
function roomIn(queue: QueueName, { queues, log }: PumpOptions): Promise<number> {
  return queues.room(queue).catch((error: unknown) => {
    log.warn('pump.uncounted', { queue, ...errorFacts(error), stack: undefined });
    return SLICE;
  });
}

/** A poller between two turns. */
interface Rest {
  isNudged: boolean;
  wake: () => void;
}

/** Rests for a while, or until a nudge; one that came during the last turn counts. */
async function restUntilNudged(rest: Rest | undefined, pauseMs: number, signal: AbortSignal): Promise<void> {
  if (!rest || signal.aborted) return;
  if (!rest.isNudged) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      rest.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
  rest.isNudged = false;
}

/** What could not be added to BullMQ stays in the hand: it has been put off, and would not be taken again soon. */
async function turn(hand: Hand, options: PumpOptions): Promise<'full' | 'crowded' | 'rest'> {
  const { queue } = hand;
  try {
    const limit = Math.min(SLICE, await roomIn(queue, options));
    if (hand.refs.length === 0 && limit > 0) hand.refs = await options.due[queue].take(limit, FORWARD_MS);
    const { length } = hand.refs;
    if (length > 0) await options.queues.wake(hand.refs.map((ref) => ({ queue, ref })));
    hand.refs = [];
    options.progress.ended(`pump of ${queue}`);
    if (limit < ROOM_MIN) return 'crowded';
    return length === limit ? 'full' : 'rest';
  } catch (error) {
    options.log.warn('pump.failed', { queue, ...errorFacts(error), stack: undefined });
    return 'rest';
  }
}
