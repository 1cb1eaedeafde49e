import { latencyStep, type Count, type Latency, type Level } from '../domain/figures';

/** What was counted: how much to add to each name, and of which names the highest number counts. */
export interface Tallied {
  /** Counts by name, and steps of histograms as `<latency>.<step>`. */
  readonly added: Readonly<Record<string, number>>;
  readonly highest: Readonly<Record<string, number>>;
}

/** Counts what a process does until somebody takes the sums. As many names as there are kinds: it does not grow. */
export interface Tally {
  count(name: Count): void;
  timed(latency: Latency, ms: number): void;
  level(name: Level, value: number): void;
  /** All that was counted since it was last taken; from then on it counts from nothing. */
  take(): Tallied;
}

export function createTally(): Tally {
  let added = new Map<string, number>();
  let highest = new Map<string, number>();
  const add = (name: string) => added.set(name, (added.get(name) ?? 0) + 1);
  return {
    count: (name) => void add(name),
    timed: (latency, ms) => void add(`${latency}.${latencyStep(ms)}`),
    level: (name, value) => void highest.set(name, Math.max(value, highest.get(name) ?? 0)),
    take() {
      const taken = { added: Object.fromEntries(added), highest: Object.fromEntries(highest) };
      added = new Map();
      highest = new Map();
      return taken;
    },
  };
}
