/** Collections of bounded size, for runs of any length: the oldest entry is dropped for the newest. */

/** The last `limit` entries by key. Writing a known key again does not change its age. */
export class BoundedMap<V, K = string> {
  readonly #limit: number;
  readonly #entries = new Map<K, V>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  set(key: K, value: V): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#limit) return;
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest);
      return;
    }
  }

  /** Oldest first. */
  values(): V[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** The last `limit` items. */
export class BoundedList<T> extends BoundedMap<T, number> {
  #pushed = 0;

  push(item: T): void {
    this.set((this.#pushed += 1), item);
  }
}
