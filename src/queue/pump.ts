import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../platform/clock';
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
/**
 * Nudges that come faster are a rush, such as of webhooks. To accept them goes before working on them: a turn takes a small
 * slice then, and the next one waits.
 */
const RUSH_NUDGES_PER_MS = 0.5;
const RUSH_WINDOW_MS = 100;
const RUSH_SLICE = 100;
const RUSH_PAUSE_MS = 200;
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
    const rest: Rest = { nudges: 0, seen: 0, wake: () => {} };
    rests.set(queue, rest);
    const isRush = rushOf(rest);
    while (!signal.aborted) {
      const hasRush = isRush();
      const how = await turn(hand, options, hasRush ? RUSH_SLICE : SLICE);
      // A full slice means that more is waiting.
      if (hasRush) await sleep(Math.min(RUSH_PAUSE_MS, options.intervalMs), undefined, { signal }).catch(() => {});
      else if (how === 'crowded') await restUntilNudged(rest, Math.min(CROWDED_MS, options.intervalMs), signal);
      else if (how === 'rest') await restUntilNudged(rest, options.intervalMs, signal);
    }
  };
  const running = Promise.all(QUEUE_NAMES.map(run));
  return {
    nudge(queue) {
      const rest = rests.get(queue);
      if (!rest) return;
      rest.nudges += 1;
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
  /** How many came since the start, and how many of them a turn has followed. */
  nudges: number;
  seen: number;
  wake: () => void;
}

/** Tells whether nudges come in a rush. */
function rushOf(rest: Rest): () => boolean {
  let began = { atMs: systemClock.monotonicMs(), nudges: 0 };
  let isRush = false;
  return () => {
    const atMs = systemClock.monotonicMs();
    if (atMs - began.atMs < RUSH_WINDOW_MS) return isRush;
    isRush = (rest.nudges - began.nudges) / (atMs - began.atMs) > RUSH_NUDGES_PER_MS;
    began = { atMs, nudges: rest.nudges };
    return isRush;
  };
}

/** Rests for a while, or until a nudge; those that came during the last turn count. */
async function restUntilNudged(rest: Rest, pauseMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (rest.nudges === rest.seen) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pauseMs);
      rest.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    rest.wake = () => {};
  }
  rest.seen = rest.nudges;
}

/** What could not be added to BullMQ stays in the hand: it has been put off, and would not be taken again soon. */
async function turn(hand: Hand, options: PumpOptions, slice: number): Promise<'full' | 'crowded' | 'rest'> {
  const { queue } = hand;
  try {
    const limit = Math.min(slice, await roomIn(queue, options));
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
