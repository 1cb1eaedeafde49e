import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../platform/clock';
import { within } from '../platform/within';
import type { Part, Progress, Standstill } from './progress';
import { QUEUE_NAMES, type QueueName, type Queues } from './queues';

export interface StandstillOptions {
  /** Of the worker as it is now: it may have been built anew since the last look. */
  readonly progress: () => Progress;
  readonly queues: Queues;
  /** How long the oldest work of a queue has been due, or waiting for a worker, ms. */
  readonly oldestAgeMs: (queue: QueueName) => Promise<number>;
  /** Whether Redis can be worked with. While it cannot, nobody is to blame for what waits. */
  readonly canWork: () => Promise<boolean>;
  readonly limitMs: number;
  readonly clock: Clock;
  /** Told one look after the standstill could be read, and again when a worker built anew stands for the limit too. */
  readonly onStandstill: (standstill: Standstill) => Promise<void>;
}

export interface StandstillWatch {
  /** The standstill that has passed the limit, until the part that stood is seen to move; else null. */
  standstill(): Standstill | null;
  /** Waits for the look under way and what follows from it. */
  stop(): Promise<void>;
}

/** Looks come at least this often. */
const LOOK_EVERY_MS = 5000;
const LOOKS_PER_LIMIT = 5;

/**
 * Watches in Redis whether work waits for this worker while it ends no turn: a worker may die without a word after a
 * reconnect or a failover, and its process looks healthy for days.
 */
export function watchForStandstill(options: StandstillOptions): StandstillWatch {
  const { clock, limitMs, progress } = options;
  const everyMs = Math.min(limitMs / LOOKS_PER_LIMIT, LOOK_EVERY_MS);
  const ending = new AbortController();
  const { signal } = ending;
  let standstill: Standstill | null = null;
  let lookedAtMs = clock.monotonicMs();

  const look = async () => {
    const sight = (await within(limitMs / 2, observe(options, everyMs)))?.value ?? null;
    const nowMs = clock.monotonicMs();
    // A process that was frozen saw nothing in between, and gets its time to move.
    if (!sight || nowMs - lookedAtMs > limitMs / 2) progress().forget();
    lookedAtMs = nowMs;
    for (const [part, waits] of sight ?? []) progress().seen(part, waits);
  };
  const judge = async () => {
    const longest = progress().standstill();
    const wasKnown = standstill !== null;
    if (longest && longest.ms >= limitMs) {
      standstill = longest;
      if (wasKnown) await options.onStandstill(longest);
    } else if (standstill && progress().hasMoved(standstill.part)) {
      standstill = null;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      await look();
      await judge();
    }
  };
  const running = run();
  return {
    standstill: () => standstill,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

/** Which parts have work that waits; null when that cannot be known. */
async function observe(options: StandstillOptions, waitsAfterMs: number): Promise<ReadonlyMap<Part, boolean> | null> {
  if (!(await options.canWork())) return null;
  const sight = new Map<Part, boolean>();
  await Promise.all(
    QUEUE_NAMES.map(async (queue) => {
      // Redis works, and yet this queue cannot be read: no worker can work on it either.
      const waits = await waitsLonger(queue, waitsAfterMs, options).catch(() => true);
      sight.set(queue, waits);
      // A pump has its next turn to do whatever waits.
      sight.set(`pump of ${queue}`, true);
    }),
  );
  return sight;
}

/** Work moments old waits for nobody; that of a queue somebody has paused is meant to wait. */
async function waitsLonger(queue: QueueName, thanMs: number, options: StandstillOptions): Promise<boolean> {
  const { queues, oldestAgeMs } = options;
  const [isPaused, ageMs] = await Promise.all([queues.byName[queue].isPaused(), oldestAgeMs(queue)]);
  return !isPaused && ageMs >= thanMs;
}
