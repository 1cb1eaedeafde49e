import * as fc from 'fast-check';
import { z } from 'zod';
import { createConservationStore } from '../../src/store/ops/conservation';
import { AT_ONCE } from '../support/conservation';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

let stores: Stores;
// Hooks run in the order of their declaration: the connection closes before its server ends.
afterAll(() => stores.close());
const redis = useRedis();
beforeAll(async () => {
  stores = await openStores(redis.url);
});

const LEDGER = '{towhook-main}:index:deliveries';

/** Few scores and similar names, so that many entries share a score and sort next to each other. */
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
const placeOf = z.object({ place: z.object({ member: z.string() }).nullish() }).transform(({ place }) => place?.member);
const stories = fc.record({
  namesPerStep: fc.integer({ min: 1, max: 4 }),
  before: entries,
  /** The changes before each step. */
  changes: fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }),
});

test('a conservation scan checks each entry that stays in the ledger exactly once while others are added and removed', async () => {
  let checked = 0;
  let changed = 0;
  await fc.assert(
    fc.asyncProperty(stories, async ({ namesPerStep, before, changes }) => {
      await stores.redis.flushall();
      const conservation = createConservationStore(stores.redis, { ...AT_ONCE, namesPerStep });
      const present = new Set<string>();
      const stayed = new Set(before.map((entry) => entry.name));
      /** How many times each entry was added. */
      const written = new Map<string, number>();
      const insert = async (id: string, at: number) => {
        if (present.has(id)) return;
        await stores.redis.zadd(LEDGER, at, id);
        present.add(id);
        written.set(id, (written.get(id) ?? 0) + 1);
      };
      const remove = async (id: string) => {
        await stores.redis.zrem(LEDGER, id);
        present.delete(id);
        stayed.delete(id);
      };
      // One command for all: a round trip for each would make up most of the time of this test.
      await stores.redis.zadd(LEDGER, ...before.flatMap((entry) => [entry.score, entry.name]));
      for (const entry of before) {
        present.add(entry.name);
        written.set(entry.name, 1);
      }

      let isLast = (await conservation.step()).isLast;
      for (const changesOfStep of changes) {
        if (isLast) break;
        for (const what of changesOfStep) {
          changed += 1;
          if (what.kind === 'insert') await insert(what.name, what.score);
          if (what.kind === 'remove') await remove(what.name);
          if (what.kind === 'remove_seen') {
            const place = placeOf.parse(
              JSON.parse((await stores.redis.hget('{towhook-main}:check', 'progress')) ?? '{}'),
            );
            if (place) await remove(place);
          }
        }
        isLast = (await conservation.step()).isLast;
      }
      while (!isLast) isLast = (await conservation.step()).isLast;

      // No entry has a record, so the scan lists each one that it checks as lost.
      const seen = (await conservation.lastScan())?.lostNames.map((text) => text.slice('delivery '.length)) ?? [];
      for (const id of stayed) expect([id, seen.filter((other) => other === id).length]).toEqual([id, 1]);
      for (const id of seen)
        expect(seen.filter((other) => other === id).length).toBeLessThanOrEqual(written.get(id) ?? 0);
      expect(new Set(await stores.redis.zrangebyscore(LEDGER, '-inf', '+inf'))).toEqual(present);
      checked += seen.length;
    }),
    { numRuns: 200 },
  );
  expect(checked).toBeGreaterThan(1000);
  expect(changed).toBeGreaterThan(500);
}, 600_000);
