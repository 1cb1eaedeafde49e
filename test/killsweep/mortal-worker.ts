import { systemClock, type Clock } from '../../src/platform/clock';

/** What befalls a worker at its n-th call of any port, counted from 1. Between two calls nothing happens to the world. */
export interface Fate {
  readonly call: number;
  /**
   * - killed before, killed after: nothing it does from there on happens, nothing it asked is answered.
   * - frozen before: it stops there for as long as others need, and then goes on as if nothing had been.
   */
  readonly what: 'killed before' | 'killed after' | 'frozen before';
}

/** The life of one worker: counts its calls, and may strike it at one of them. */
export interface Life {
  /** `port.method` of every call so far, the one it was struck at included. */
  readonly calls: readonly string[];
  /** Resolves when the worker is struck. */
  readonly struck: Promise<void>;
  readonly isStruck: () => boolean;
  /** Lets a frozen worker go on; a killed one stays dead. Its clock shows that it is an hour later. */
  thaw(): void;
  readonly clock: Clock;
  /** The port as this worker sees it. */
  mortal<T extends object>(name: string, port: T): T;
}

const FROZEN_FOR_MS = 3_600_000;

/** A worker with this fate; with none it lives as long as it is wanted. */
export function createLife(fate: Fate | null): Life {
  const calls: string[] = [];
  const silence = new Promise<never>(() => {});
  let isStruck = false;
  let frozenForMs = 0;
  let tellStruck = () => {};
  let tellThawed = () => {};
  const struck = new Promise<void>((resolve) => (tellStruck = resolve));
  const thawed = new Promise<void>((resolve) => (tellThawed = resolve));
  const strike = () => {
    isStruck = true;
    tellStruck();
  };
  const die = () => {
    strike();
    return silence;
  };
  const live = (name: string, act: () => unknown): unknown => {
    if (isStruck) return fate?.what === 'frozen before' ? thawed.then(act) : silence;
    calls.push(name);
    if (fate?.call !== calls.length) return act();
    switch (fate.what) {
      case 'killed before':
        return die();
      case 'killed after':
        // A failure comes back to nobody, like an answer.
        return Promise.resolve(act()).then(die, die);
      case 'frozen before':
        strike();
        return thawed.then(act);
    }
  };
  return {
    calls,
    struck,
    isStruck: () => isStruck,
    thaw() {
      frozenForMs = FROZEN_FOR_MS;
      tellThawed();
    },
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + frozenForMs },
    mortal: (name, port) =>
      new Proxy(port, {
        get(target, key, receiver) {
          const value: unknown = Reflect.get(target, key, receiver);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]) => live(`${name}.${String(key)}`, () => Reflect.apply(value, target, args));
        },
      }),
  };
}
