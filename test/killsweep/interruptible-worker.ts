import { systemClock, type Clock } from '../../src/platform/clock';

/** Where a worker is interrupted: at its n-th call of any port, counted from 1. */
export interface Interruption {
  readonly call: number;
  /**
   * - killed before, killed after: from there on its calls are not made and its results do not arrive.
   * - frozen before: it stops there until `resume`, then continues.
   */
  readonly what: 'killed before' | 'killed after' | 'frozen before';
}

/** Counts the calls of one worker and interrupts it at one of them. */
export interface InterruptibleWorker {
  /** `port.method` of every call so far, including the interrupted one. */
  readonly calls: readonly string[];
  /** Resolves when the worker is interrupted. */
  readonly interrupted: Promise<void>;
  readonly isInterrupted: () => boolean;
  /** Continues a frozen worker; a killed one stays dead. Its clock is then one hour ahead. */
  resume(): void;
  readonly clock: Clock;
  /** The port as this worker sees it. */
  wrap<T extends object>(name: string, port: T): T;
}

const FROZEN_FOR_MS = 3_600_000;

/** A worker with this interruption; with null it is never interrupted. */
export function createWorker(interruption: Interruption | null): InterruptibleWorker {
  const calls: string[] = [];
  const never = new Promise<never>(() => {});
  let isInterrupted = false;
  let frozenForMs = 0;
  let onInterrupted = () => {};
  let onResumed = () => {};
  const interrupted = new Promise<void>((resolve) => (onInterrupted = resolve));
  const resumed = new Promise<void>((resolve) => (onResumed = resolve));
  const interrupt = () => {
    isInterrupted = true;
    onInterrupted();
  };
  const die = () => {
    interrupt();
    return never;
  };
  const make = (name: string, call: () => unknown): unknown => {
    if (isInterrupted) return interruption?.what === 'frozen before' ? resumed.then(call) : never;
    calls.push(name);
    if (interruption?.call !== calls.length) return call();
    switch (interruption.what) {
      case 'killed before':
        return die();
      case 'killed after':
        // Neither a result nor an error reaches a killed worker.
        return Promise.resolve(call()).then(die, die);
      case 'frozen before':
        interrupt();
        return resumed.then(call);
    }
  };
  return {
    calls,
    interrupted,
    isInterrupted: () => isInterrupted,
    resume() {
      frozenForMs = FROZEN_FOR_MS;
      onResumed();
    },
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + frozenForMs },
    wrap: (name, port) =>
      new Proxy(port, {
        get(target, key, receiver) {
          const value: unknown = Reflect.get(target, key, receiver);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => make(`${name}.${String(key)}`, () => Reflect.apply(value, target, args));
        },
      }),
  };
}
