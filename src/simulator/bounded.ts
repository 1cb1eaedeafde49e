/** Collections of bounded size, for runs of any length: the oldest entry is dropped for the newest. */

/** The last `limit` items, oldest first. */
export class BoundedList<T> {
  readonly #limit: number;
  #slots: T[] = [];
  #oldest = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds an item; returns the dropped one, if any. */
  push(item: T): T | undefined {
    if (this.#slots.length < this.#limit) {
      this.#slots.push(item);
      return undefined;
    }
    const gone = this.#slots[this.#oldest];
    this.#slots[this.#oldest] = item;
    this.#oldest = (this.#oldest + 1) % this.#limit;
    return gone;
  }

  items(): T[] {
    return this.#slots.slice(this.#oldest).concat(this.#slots.slice(0, this.#oldest));
  }

  get size(): number {
    return this.#slots.length;
  }

  clear(): void {
    this.#slots = [];
    this.#oldest = 0;
  }
}

/** The last `limit` entries by key. Writing a known key again does not change its age. */
export class BoundedMap<V> {
  readonly #entries = new Map<string, V>();
  readonly #keys: BoundedList<string>;

  constructor(limit: number) {
    this.#keys = new BoundedList(limit);
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  set(key: string, value: V): void {
    if (!this.#entries.has(key)) {
      const gone = this.#keys.push(key);
      if (gone !== undefined) this.#entries.delete(gone);
    }
    this.#entries.set(key, value);
  }

  values(): V[] {
    return [...this.#entries.values()];
  }

  get size(): number {
    return this.#entries.size;
  }
}
