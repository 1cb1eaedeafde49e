import * as fc from 'fast-check';
import { createConservationStore } from '../../src/store/conservation';
import { AT_ONCE } from '../support/conservation';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

let stores: Stores;
// Hooks run in the order they are declared: the connection closes before its server is gone.
afterAll(() => stores.close());
const redis = useRedis();
beforeAll(async () => {
  stores = await openStores(redis.url);
});

const LEDGER = '{p0}:ledger';

/** Few moments and alike names, so that many stand at one moment and lie close together. */
const name = fc
  .tuple(fc.constantFrom('', 'a', 'A', 'é', 'ش', '\u{1f697}'), fc.constantFrom('', '0', '1', '10', 'z'))
  .map(([first, second]) => `x${first}${second}`);
const score = fc.constantFrom(0, 1, 2, 1795220706429, 1795220706430);
const entries = fc.uniqueArray(fc.record({ name, score }), {
  selector: (entry) => entry.name,
  minLength: 5,
  maxLength: 25,
});
const change = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), name, score }),
  fc.record({ kind: fc.constant('remove' as const), name }),
  fc.record({ kind: fc.constant('remove_seen' as const) }),
);
const stories = fc.record({
  namesPerStep: fc.integer({ min: 1, max: 4 }),
  before: entries,
  /** What happens before each step. */
  changes: fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }),
});

test('whatever comes and goes between the steps, what stands there throughout is looked at exactly once', async () => {
  let lookedAt = 0;
  let cameAndWent = 0;
  await fc.assert(
    fc.asyncProperty(stories, async ({ namesPerStep, before, changes }) => {
      await stores.redis.flushall();
      const conservation = createConservationStore(stores.redis, { ...AT_ONCE, namesPerStep });
      const member = (id: string) => `delivery\n${id}`;
      const present = new Set<string>();
      const stood = new Set(before.map((entry) => entry.name));
      /** How often each was written. */
      const written = new Map<string, number>();
      const insert = async (id: string, at: number) => {
        if (present.has(id)) return;
        await stores.redis.zadd(LEDGER, at, member(id));
        present.add(id);
        written.set(id, (written.get(id) ?? 0) + 1);
      };
      const remove = async (id: string) => {
        await stores.redis.zrem(LEDGER, member(id));
        present.delete(id);
        stood.delete(id);
      };
      for (const entry of before) await insert(entry.name, entry.score);

      let isLast = (await conservation.step()).isLast;
      for (const happens of changes) {
        if (isLast) break;
        for (const what of happens) {
          cameAndWent += 1;
          if (what.kind === 'insert') await insert(what.name, what.score);
          if (what.kind === 'remove') await remove(what.name);
          // The very name at which the walk stands.
          const cursor = await stores.redis.hget('{p0}:walk', 'cursor_name');
          if (what.kind === 'remove_seen' && cursor) await remove(cursor.slice('delivery\n'.length));
        }
        isLast = (await conservation.step()).isLast;
      }
      while (!isLast) isLast = (await conservation.step()).isLast;

      // None of them has a record, so that each one looked at is named as lost.
      const seen = (await conservation.lastWalk())?.lostNames.map((text) => text.slice('delivery '.length)) ?? [];
      for (const id of stood) expect([id, seen.filter((other) => other === id).length]).toEqual([id, 1]);
      for (const id of seen)
        expect(seen.filter((other) => other === id).length).toBeLessThanOrEqual(written.get(id) ?? 0);
      expect(new Set(await stores.redis.zrangebyscore(LEDGER, '-inf', '+inf'))).toEqual(
        new Set([...present].map(member)),
      );
      lookedAt += seen.length;
    }),
    { numRuns: 300 },
  );
  expect(lookedAt).toBeGreaterThan(1000);
  expect(cameAndWent).toBeGreaterThan(1000);
});
