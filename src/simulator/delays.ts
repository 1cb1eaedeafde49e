/** A wait under way. */
export interface Delay {
  /** True when the time has passed or `end` was called; false when the simulator stops. */
  readonly ended: Promise<boolean>;
  /** Ends the wait early. */
  end(): void;
}

/** Every timed wait of the simulator, so that stopping leaves no timer behind. */
export class Delays {
  readonly #running = new Set<(completed: boolean) => void>();
  #stopped = false;

  /** Starts a wait of `ms`; after `cancelAll` every wait is over at once, as cancelled. */
  start(ms: number): Delay {
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

  /** Waits `ms`; false when the simulator stops meanwhile. */
  wait(ms: number): Promise<boolean> {
    return this.start(ms).ended;
  }

  /** Ends every wait as cancelled, and all later ones too. */
  cancelAll(): void {
    this.#stopped = true;
    for (const settle of this.#running) settle(false);
  }
}
