import { latencyStep, type CounterName, type GaugeName, type Latency } from '../../domain/ops/metric-names';

/** Values that were counted since the last `take`. */
export interface CountedValues {
  /** Increments by name; histogram steps are named `<latency>.<step>`. */
  readonly added: Readonly<Record<string, number>>;
  /** Gauges: the highest value of each name. */
  readonly highest: Readonly<Record<string, number>>;
}

/** Counters of this process between two heartbeats. The names are a fixed set, so memory does not grow. */
export interface Counters {
  count(name: CounterName): void;
  timed(latency: Latency, ms: number): void;
  level(name: GaugeName, value: number): void;
  /** Returns all values and resets them. */
  take(): CountedValues;
}

export function createCounters(): Counters {
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
