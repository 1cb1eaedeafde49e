import { decodeCircuits } from '../../domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import { recordNamed } from '../../domain/outbox/outbox-record';
import type { WithheldRecord, WithheldStore } from '../../workflow/outbox/withheld-list';
import { isStoppedBySwitch, stoppedSinceMs } from '../../domain/service/circuits';
import { KEYS } from '../keys';
import { unlessUnusable } from './readable-records';
import { mergedRows, pageOf } from './rows';
import { createTowStore } from '../tow/tows';
import { createViolationStore } from '../violation/violations';

/** The withheld records that wait for a decision. */
export function createWithheldStore(redis: Redis): WithheldStore {
  const tows = createTowStore(redis);
  const violations = createViolationStore(redis);
  const read = (member: string): Promise<WithheldRecord | null> => {
    const { kind, id } = recordNamed(member);
    return kind === 'tow' ? tows.read(id) : violations.read(id);
  };
  return {
    async summary() {
      const [[version = null, json = null], held] = await Promise.all([
        redis.hmget(KEYS.circuits, 'v', 'circuits'),
        redis.zcard(KEYS.withheld),
      ]);
      const circuits = decodeCircuits(version, json);
      return { sinceMs: stoppedSinceMs(circuits), isSwitchedOff: isStoppedBySwitch(circuits), held };
    },

    async list(paging) {
      const { refs, nextCursor } = await pageOf(mergedRows(redis, [KEYS.withheld], 'oldest'), paging);
      const found = await Promise.all(refs.map((member) => unlessUnusable(read(member))));
      // A record may have been decided on after its index entry was read.
      const items = found.filter((held) => held?.withheld === 'held');
      return { items: items.filter((held) => held !== null), nextCursor };
    },
  };
}
