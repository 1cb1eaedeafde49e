import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { useStores } from '../support/stores';

const stores = useStores();

/** The budget's own rules under a clock that the test turns: the moments of the slots granted at these moments. */
const GRANT = `${readFileSync('src/store/lua/shared/rate-limit.lua', 'utf8')}
  redis.call('DEL', KEYS[1])
  local granted = {}
  for i = 3, #ARGV do
    local at = permit_at(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), 0, tonumber(ARGV[i]), {})
    grant_permit(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), at)
    granted[#granted + 1] = string.format('%.0f', at)
  end
  return granted`;

/**
 * As GRANT, with triples of a moment, 1 to exchange a slot or 0 to ask for one, and which of the slots in the log: the
 * moments of all slots that were used in the end.
 */
const EXCHANGE = `${readFileSync('src/store/lua/shared/rate-limit.lua', 'utf8')}
  redis.call('DEL', KEYS[1])
  local log, limit, window, used = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), {}
  for i = 3, #ARGV, 3 do
    local now = tonumber(ARGV[i])
    local at = permit_at(log, limit, window, 0, now, {})
    local unused = ARGV[i + 1] == '1' and redis.call('LINDEX', log, tonumber(ARGV[i + 2]))
    if unused then
      at = exchanged_permit_at(log, now, 0)
      redis.call('LREM', log, 1, unused)
      for n, earlier in ipairs(used) do
        if earlier == unused then
          table.remove(used, n)
          break
        end
      end
    end
    grant_permit(log, limit, window, at)
    used[#used + 1] = string.format('%.0f', at)
  end
  return used`;

/** Returns the predicted permit time for each place in the queue, and the permit times then granted one after the other. */
const FORETELL = `${readFileSync('src/store/lua/shared/rate-limit.lua', 'utf8')}
  local limit, window, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
  local predicted, granted = {}, {}
  for rank = 0, tonumber(ARGV[4]) - 1 do
    predicted[#predicted + 1] = string.format('%.0f', permit_at(KEYS[1], limit, window, rank, now, {}))
  end
  for _ = 1, tonumber(ARGV[4]) do
    local at = permit_at(KEYS[1], limit, window, 0, now, {})
    grant_permit(KEYS[1], limit, window, at)
    granted[#granted + 1] = string.format('%.0f', at)
  end
  return { predicted, granted }`;

const START_MS = 1_700_000_000_000;
const limits = fc.integer({ min: 1, max: 30 });
/** Short, so that no permit of a burst is so far ahead that it counts as one of a clock that jumped. */
const windows = fc.integer({ min: 1, max: 1000 });
/** Pauses between requests: bursts, and now and then a long silence. */
const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 9000 })), {
  minLength: 1,
  maxLength: 120,
});

function momentsOf(between: readonly number[]): number[] {
  let nowMs = START_MS;
  return between.map((pause) => (nowMs += pause));
}

async function numbers(client: Redis, script: string, args: readonly number[]): Promise<number[]> {
  const reply: unknown = await client.eval(script, 1, '{towhook-main}:budget:property', ...args);
  return Array.isArray(reply) ? reply.map(Number) : [];
}

test('no window ever contains more calls than the rate limit', async () => {
  await fc.assert(
    fc.asyncProperty(limits, windows, pauses, async (limit, windowMs, between) => {
      const granted = await numbers(stores.redis, GRANT, [limit, windowMs, ...momentsOf(between)]);
      expect(granted).toHaveLength(between.length);
      // Slot n and slot n + limit never lie in one window; then no window holds limit + 1.
      const spans = granted.slice(limit).map((at, n) => at - (granted[n] ?? 0));
      expect(spans.filter((span) => span < windowMs)).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

test('no window contains more calls than the rate limit when unused permits are exchanged', async () => {
  const step = fc.tuple(fc.integer({ min: 0, max: 900 }), fc.boolean(), fc.nat({ max: 29 }));
  await fc.assert(
    fc.asyncProperty(
      limits,
      windows,
      fc.array(step, { minLength: 1, maxLength: 120 }),
      async (limit, windowMs, steps) => {
        const moments = momentsOf(steps.map(([pause]) => pause));
        const asked = steps.flatMap(([, exchanges, index], n) => [moments[n] ?? 0, exchanges ? 1 : 0, index % limit]);
        const used = await numbers(stores.redis, EXCHANGE, [limit, windowMs, ...asked]);
        const spans = used.slice(limit).map((at, n) => at - (used[n] ?? 0));
        expect(used).toEqual(used.toSorted((a, b) => a - b));
        expect(spans.filter((span) => span < windowMs)).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});

test('no call waits longer than its rate limit requires', async () => {
  await fc.assert(
    fc.asyncProperty(limits, windows, pauses, async (limit, windowMs, between) => {
      const asked = momentsOf(between);
      const granted = await numbers(stores.redis, GRANT, [limit, windowMs, ...asked]);
      for (const [n, at] of granted.entries()) {
        const before = granted[n - limit];
        expect(at).toBe(Math.max(asked[n] ?? 0, before === undefined ? 0 : before + windowMs));
      }
    }),
    { numRuns: 300 },
  );
});

test('the predicted permit time of every waiting member is the time at which it gets the permit', async () => {
  await fc.assert(
    fc.asyncProperty(
      limits,
      windows,
      pauses,
      fc.integer({ min: 1, max: 90 }),
      async (limit, windowMs, between, line) => {
        const asked = momentsOf(between);
        await numbers(stores.redis, GRANT, [limit, windowMs, ...asked]);
        const args = [limit, windowMs, asked.at(-1) ?? START_MS, line];
        const reply: unknown = await stores.redis.eval(FORETELL, 1, '{towhook-main}:budget:property', ...args);
        const [predicted, granted] = z.tuple([z.array(z.string()), z.array(z.string())]).parse(reply);
        expect(predicted).toEqual(granted);
      },
    ),
    { numRuns: 200 },
  );
});
