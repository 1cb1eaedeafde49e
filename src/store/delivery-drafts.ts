import type { Redis } from 'ioredis';
import type { Delivery } from '../domain/delivery';
import { versionNumber } from '../domain/outbox-record';
import type { Effect, RecordChange } from './commit';
import { changedFields, decodeDelivery, deliveryEffects, deliveryEvents } from './delivery-fields';
import { deliveryKey, KEYS } from './keys';
import type { StoreChange } from './record-effects';

interface Loaded {
  readonly before: Delivery | null;
  after: Delivery | null;
}

/** The deliveries that one transaction reads and changes. What is decided on one holds as long as it is unchanged. */
export class DeliveryDrafts {
  readonly #loaded = new Map<string, Loaded>();
  readonly #dues = new Map<string, number | null>();

  constructor(private readonly redis: Redis) {}

  async load(id: string, known: Delivery | null): Promise<Delivery | null> {
    const loaded = this.#loaded.get(id);
    if (loaded) return loaded.after;
    const before = known ?? decodeDelivery(await this.redis.hgetall(deliveryKey(id)));
    const after = before && { ...before };
    this.#loaded.set(id, { before, after });
    return after;
  }

  schedule(id: string, atMs: number | null): void {
    this.#dues.set(id, atMs);
  }

  /** Takes a delivery away that was read before. */
  remove(id: string): void {
    const loaded = this.#loaded.get(id);
    if (loaded) loaded.after = null;
    this.#dues.set(id, null);
  }

  changes(newTag: () => string): { records: RecordChange[]; effects: Effect[]; events: StoreChange[] } {
    const effects: Effect[] = [];
    const events: StoreChange[] = [];
    const records = [...this.#loaded].map(([id, { before, after }]): RecordChange => {
      const read = { key: deliveryKey(id), expected: before?.version ?? '' };
      if (!before) return read;
      if (!after) return { ...read, isGone: true };
      const set = changedFields(before, after);
      if (Object.keys(set).length === 0) return read;
      if (after.state === 'processed') this.#dues.set(id, null);
      effects.push(...deliveryEffects(before, after));
      events.push(...deliveryEvents(before, after));
      return { ...read, version: `${versionNumber(before.version) + 1}.${newTag()}`, set };
    });
    for (const [id, atMs] of this.#dues) {
      effects.push(atMs === null ? ['ZREM', KEYS.dueDeliveries, id] : ['ZADD', KEYS.dueDeliveries, atMs, id]);
    }
    return { records, effects, events };
  }
}
