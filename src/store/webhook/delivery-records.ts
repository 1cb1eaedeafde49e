import type { Redis } from 'ioredis';
import { numbered, type NewChange, type TypedChange } from '../../domain/ops/changes';
import { storedDelivery, type Delivery } from '../../domain/webhook/delivery';
import type { Effect, RecordChange } from '../redis/commit';
import { KEYS, deliveryKey, differingDeliveriesKey } from '../keys';
import { fieldsOrDamaged, orDamaged, readableFields } from '../outbox/readable-records';
import type { Fields } from '../redis/packed-fields';
import { nextVersion } from '../../domain/outbox/outbox-record';

/**
 * Webhook deliveries as the fields of their hashes, and the consequences of a change. lua/accept.lua stores them first.
 */

/** Null when there is no delivery. @throws UnusableRecord */
export function decodeDelivery(stored: Fields): Delivery | null {
  const fields = readableFields('delivery', stored);
  return fields['id'] === undefined ? null : storedDelivery.parse({ ...fields, version: fields['v'] });
}

/** The texts of the fields that differ. */
function changedFields(before: Delivery, after: Delivery): Record<string, string> {
  const was = new Map<string, unknown>(Object.entries(before));
  const changed = Object.entries(after).filter(([name, value]) => was.get(name) !== value);
  return Object.fromEntries(changed.map(([name, value]) => [name, value === null ? '' : value.toString()]));
}

/**
 * Adds a processed delivery to the archivable ones; a replay removes it. Lists a delivery that differs under its kind of
 * difference.
 */
function deliveryEffects(before: Delivery, after: Delivery): Effect[] {
  return [...retireEffects(before, after), ...differingEffects(before, after)];
}

function differingEffects(before: Delivery, after: Delivery): Effect[] {
  const [was, is] = [differenceWaitedFor(before), differenceWaitedFor(after)];
  if (was === is) return [];
  const effects: Effect[] = [];
  if (was !== null) effects.push(['ZREM', differingDeliveriesKey(was), before.id]);
  if (is !== null) effects.push(['ZADD', differingDeliveriesKey(is), after.receivedAtMs, after.id]);
  return effects;
}

function differenceWaitedFor({ state, differenceId }: Delivery): string | null {
  return state === 'differs' ? differenceId : null;
}

function retireEffects(before: Delivery, after: Delivery): Effect[] {
  const [wasSettled, isSettled] = [before.state === 'processed', after.state === 'processed'];
  if (isSettled && !wasSettled) return [['ZADD', KEYS.retireDeliveries, after.processedAtMs ?? 0, after.id]];
  return wasSettled && !isSettled ? [['ZREM', KEYS.retireDeliveries, after.id]] : [];
}

/** The changes between two states, numbered and counted in the second one. */
function countedChanges(before: Delivery, after: Delivery): NewChange[] {
  const changed = numbered(changesOf(before, after), { kind: 'delivery', id: after.id }, after.changeCount);
  after.changeCount += changed.length;
  return changed;
}

function changesOf(before: Delivery, after: Delivery): TypedChange[] {
  if (before.state === after.state) return [];
  const data = { towing_reference_id: after.towingReferenceId };
  switch (after.state) {
    case 'processed':
      return [{ type: 'delivery.processed', data: { ...data, verdict: after.verdict?.toString() ?? '' } }];
    case 'parked':
    case 'differs':
      return [{ type: `delivery.${after.state}`, data }];
    case 'waiting':
      return [{ type: 'delivery.replayed', data }];
  }
}

interface LoadedDelivery {
  readonly before: Delivery | null;
  after: Delivery | null;
}

/**
 * The deliveries that one transaction reads and changes. Its commit is stale when one of them has changed meanwhile.
 */
export class DeliveryDrafts {
  readonly #loaded = new Map<string, LoadedDelivery>();
  readonly #dues = new Map<string, number | null>();

  constructor(private readonly redis: Redis) {}

  async load(id: string, known: Delivery | null): Promise<Delivery | null> {
    const loaded = this.#loaded.get(id);
    if (loaded) return loaded.after;
    const before = known ?? (await this.#read(id));
    const after = before && { ...before };
    this.#loaded.set(id, { before, after });
    return after;
  }

  /** By the list of deliveries, also of one that cannot be decoded; null when it is not listed. */
  async receivedAtMs(id: string): Promise<number | null> {
    const score = await this.redis.zscore(KEYS.indexDeliveries, id);
    return score === null ? null : Number(score);
  }

  schedule(id: string, atMs: number | null): void {
    this.#dues.set(id, atMs);
  }

  /** Removes a delivery that was loaded before. */
  remove(id: string): void {
    const loaded = this.#loaded.get(id);
    if (loaded) loaded.after = null;
    this.#dues.set(id, null);
  }

  async #read(id: string): Promise<Delivery | null> {
    const name = { kind: 'delivery', id } as const;
    const fields = await fieldsOrDamaged(this.redis, deliveryKey(id), name);
    return orDamaged(name, () => decodeDelivery(fields));
  }

  changes(newId: () => string): { records: RecordChange[]; effects: Effect[]; changed: NewChange[] } {
    const effects: Effect[] = [];
    const changed: NewChange[] = [];
    const records = [...this.#loaded].map(([id, { before, after }]): RecordChange => {
      const read = { key: deliveryKey(id), expected: before?.version ?? '' };
      if (!before) return read;
      if (!after) return { isGone: true, ...read };
      changed.push(...countedChanges(before, after));
      const set = changedFields(before, after);
      if (Object.keys(set).length === 0) return read;
      if (after.state === 'processed') this.#dues.set(id, null);
      effects.push(...deliveryEffects(before, after));
      return { version: nextVersion(before.version, newId()), set, ...read };
    });
    for (const [id, atMs] of this.#dues) {
      effects.push(atMs === null ? ['ZREM', KEYS.dueDeliveries, id] : ['ZADD', KEYS.dueDeliveries, atMs, id]);
    }
    return { records, effects, changed };
  }
}
