import { decodeCircuits } from '../../domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import { recordNamed } from '../../domain/outbox/outbox-record';
import type { ShadowRecord, ShadowStore } from '../../workflow/outbox/shadow-list';
import { isStoppedBySwitch, stoppedSinceMs } from '../../domain/service/circuits';
import { KEYS } from '../keys';
import { unlessUnusable } from './readable-records';
import { mergedRows, pageOf } from './rows';
import { createTowStore } from '../tow/tows';
import { createViolationStore } from '../violation/violations';

/** The records of a shadow time that wait for a decision. */
export function createShadowStore(redis: Redis): ShadowStore {
  const tows = createTowStore(redis);
  const violations = createViolationStore(redis);
  const read = (member: string): Promise<ShadowRecord | null> => {
    const { kind, id } = recordNamed(member);
    return kind === 'tow' ? tows.read(id) : violations.read(id);
  };
  return {
    async summary() {
      const [[version = null, json = null], held] = await Promise.all([
        redis.hmget(KEYS.circuits, 'v', 'circuits'),
        redis.zcard(KEYS.shadow),
      ]);
      const circuits = decodeCircuits(version, json);
      return { sinceMs: stoppedSinceMs(circuits), isSwitchedOff: isStoppedBySwitch(circuits), held };
    },

    async list(paging) {
      const { refs, nextCursor } = await pageOf(mergedRows(redis, [KEYS.shadow], 'oldest'), paging);
      const found = await Promise.all(refs.map((member) => unlessUnusable(read(member))));
      // A record may have been decided on after its index entry was read.
      const items = found.filter((held) => held?.shadow === 'held');
      return { items: items.filter((held) => held !== null), nextCursor };
    },
  };
}
