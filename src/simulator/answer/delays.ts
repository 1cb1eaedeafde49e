/** A running wait. */
export interface RunningDelay {
  /** True when the time has passed or `end` was called; false when the simulator stops. */
  readonly ended: Promise<boolean>;
  /** Ends the wait early. */
  end(): void;
}

/** All timed waits of the simulator, so that no timer outlives it. */
export class Delays {
  readonly #running = new Set<(completed: boolean) => void>();
  #stopped = false;

  /** Starts a wait of `ms`. After `cancelAll` every wait ends at once as cancelled. */
  start(ms: number): RunningDelay {
    if (this.#stopped) return { ended: Promise.resolve(false), end: () => {} };
    let settle: (completed: boolean) => void = () => {};
    const ended = new Promise<boolean>((resolve) => {
      settle = (completed) => {
        clearTimeout(timer);
        this.#running.delete(settle);
        resolve(completed);
      };
      const timer = setTimeout(() => settle(true), ms);
      this.#running.add(settle);
    });
    return { ended, end: () => settle(true) };
  }

  /** Waits `ms`; false when the simulator stops in the meantime. */
  wait(ms: number): Promise<boolean> {
    return this.start(ms).ended;
  }

  /** Cancels every wait and all later ones. */
  cancelAll(): void {
    this.#stopped = true;
    for (const settle of this.#running) settle(false);
  }
}
