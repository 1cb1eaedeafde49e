import { systemClock, type Clock } from '../../src/platform/clock';

/** Where a worker is interrupted: at its n-th step, counted from 1, or the next one that can be interrupted so. */
export interface Interruption {
  readonly step: number;
  /**
   * - killed before, killed after: from there on the worker takes no step, and no result reaches it.
   * - frozen before, frozen after: it stops there until `resume`, then continues. Not within a call of the service: its
   *   bytes may be on their way then.
   * - redis killed before, redis killed after: Redis is killed and started again, before the command or between the command
   *   and its reply. The worker sees a broken connection.
   */
  readonly what:
    | 'killed before'
    | 'killed after'
    | 'frozen before'
    | 'frozen after'
    | 'redis killed before'
    | 'redis killed after';
}

/** One thing that a worker does outside of its memory: a Redis command or pipeline, a call of the service, work on the disk. */
export interface SweepStep {
  readonly kind: 'redis' | 'service' | 'disk';
  readonly name: string;
  /** False for what only reads, or turned out to have nothing to write. */
  mayWrite: boolean;
  /** Whether an earlier step was still under way when this one began. */
  isConcurrent: boolean;
}

/** Counts the steps of one worker and interrupts it at one of them. */
export interface Steps {
  /** Every step so far, including the interrupted one. */
  readonly taken: readonly SweepStep[];
  /** Resolves when the worker is interrupted. */
  readonly interrupted: Promise<void>;
  readonly isInterrupted: () => boolean;
  /** Continues a frozen worker; a killed one stays dead. Its clock is then one hour ahead. */
  resume(): void;
  readonly clock: Clock;
  /** Takes a step, unless the worker is interrupted there. Never settles for a worker that was killed. */
  take<T>(step: Omit<SweepStep, 'isConcurrent'>, go: () => T | Promise<T>): Promise<T>;
}

const FROZEN_FOR_MS = 3_600_000;
const NEVER = new Promise<never>(() => {});

/** The steps of a worker with this interruption; with null it is never interrupted. `killRedis` kills and starts Redis. */
export function createSteps(
  interruption: Interruption | null,
  killRedis: () => Promise<void> = () => Promise.reject(new Error('this Redis is not to be killed')),
): Steps {
  const taken: SweepStep[] = [];
  let underWay = 0;
  let isInterrupted = false;
  let frozenForMs = 0;
  let onInterrupted = () => {};
  let onResumed = () => {};
  const interrupted = new Promise<void>((resolve) => (onInterrupted = resolve));
  const resumed = new Promise<void>((resolve) => (onResumed = resolve));
  const isKilled = () => isInterrupted && interruption?.what.startsWith('killed') === true;
  const interrupt = () => {
    isInterrupted = true;
    onInterrupted();
  };
  const die = () => {
    interrupt();
    return NEVER;
  };
  /** Steps that were under way when the worker was killed have their effect, but their results do not arrive. */
  const follow = async <T>(going: T | Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      const result = await going;
      return await (isKilled() ? NEVER : result);
    } catch (error) {
      if (isKilled()) return await NEVER;
      throw error;
    } finally {
      underWay -= 1;
    }
  };
  const interruptAt = async <T>(what: Interruption['what'], go: () => T | Promise<T>): Promise<T> => {
    switch (what) {
      case 'killed before':
        return die();
      case 'killed after':
        await Promise.resolve(go()).catch(() => null);
        return die();
      case 'frozen before':
        interrupt();
        await resumed;
        return go();
      case 'frozen after': {
        const result = await go();
        interrupt();
        await resumed;
        return result;
      }
      case 'redis killed before':
        interrupt();
        await killRedis();
        return go();
      case 'redis killed after':
        interrupt();
        await go();
        await killRedis();
        throw new Error('Connection is closed.');
    }
  };
  return {
    taken,
    interrupted,
    isInterrupted: () => isInterrupted,
    resume() {
      frozenForMs = FROZEN_FOR_MS;
      onResumed();
    },
    clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + frozenForMs },
    take(step, go) {
      if (isKilled()) return NEVER;
      if (isInterrupted && interruption?.what.startsWith('frozen')) return resumed.then(go);
      taken.push(Object.assign(step, { isConcurrent: underWay > 0 }));
      const isHere = !isInterrupted && interruption !== null && interruption.step <= taken.length;
      return isHere && mayInterrupt(interruption.what, step.kind) ? interruptAt(interruption.what, go) : follow(go());
    },
  };
}

/** A worker takes a step more or less when a read of the circuits or the token is a moment too old or not. */
function mayInterrupt(what: Interruption['what'], kind: SweepStep['kind']): boolean {
  switch (what) {
    case 'killed before':
    case 'killed after':
      return true;
    case 'frozen before':
    case 'frozen after':
      return kind !== 'service';
    case 'redis killed before':
    case 'redis killed after':
      return kind === 'redis';
  }
}

/** A disk whose every use is a step. */
export function diskInSteps<T extends object>(disk: T, steps: Steps): T {
  return new Proxy(disk, {
    get(target, key, receiver) {
      const value: unknown = Reflect.get(target, key, receiver);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        steps.take({ kind: 'disk', name: `disk.${String(key)}`, mayWrite: true }, () => {
          const result: unknown = Reflect.apply(value, target, args);
          return result;
        });
    },
  });
}
