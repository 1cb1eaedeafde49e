import { z } from 'zod';
import { KEYS, refusedCallsKey } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import type { FuzzedProduct } from './product';

/** Memory that a run left in the product's process and in Redis. */
export interface HttpMemory {
  /** Heap growth after the warm-up, measured after garbage collection and without pending work. */
  readonly heapGrownBytes: number;
  readonly rssGrownBytes: number;
  /** Growth of Redis beyond what it may keep of accepted calls. */
  readonly redisGrownBytes: number;
  readonly redisAllowedBytes: number;
  /** Refused calls that are kept. */
  readonly refused: number;
}

/**
 * Bytes that Redis may keep of an accepted call: its body in the delivery and in the tow or note that it becomes, with
 * their records, indexes and audit entries.
 */
const BODY_COPIES = 4;
const AROUND_BYTES = 16 * 1024;
/** Refused calls: 5 of each of 12 sources for each of 14 reasons, with at most 80 fields and 50 headers each. */
export const REFUSED_MAX = 5 * 12 * 14;
const REFUSED_BYTES = 16 * 1024;
/** Scripts, connections, heartbeats and metrics. */
const REDIS_OWN_BYTES = 4 * 1024 * 1024;

const SETTLES_WITHIN_MS = 120_000;

export function memoryOf({ meter, redis, http, consoleUrl, apiKey }: FuzzedProduct) {
  let redisAtStart = 0;
  let warm: { heapBytes: number; rssBytes: number } | null = null;
  const queues = z.array(z.object({ waiting: z.number(), active: z.number() }));
  const untilIdle = () =>
    eventually(async () => {
      const headers = { authorization: `Bearer ${apiKey}` };
      const response = await http.send(consoleUrl, {
        method: 'GET',
        path: '/api/queues',
        headers,
        body: Buffer.alloc(0),
      });
      const busy = typeof response === 'string' ? [] : queues.parse(JSON.parse(response.text));
      if (busy.some(({ waiting, active }) => waiting + active > 0)) throw new Error('the queues are not empty');
    }, SETTLES_WITHIN_MS);
  const usedBytes = async () => Number(/used_memory:(\d+)/.exec(String(await redis.ask('INFO', 'memory')))?.[1]);
  return {
    async begin() {
      redisAtStart = await usedBytes();
    },
    async warm() {
      await untilIdle();
      warm = await meter.look('collect');
    },
    async end(): Promise<HttpMemory> {
      await untilIdle();
      const now = await meter.look('collect');
      const { calls, bytes } = http.accepted();
      const groups = z.array(z.string()).parse(await redis.ask('ZRANGE', KEYS.refusedGroups, '0', '-1'));
      const lengths = await Promise.all(groups.map((group) => redis.ask('LLEN', refusedCallsKey(group))));
      const refused = lengths.reduce<number>((sum, length) => sum + Number(length), 0);
      return {
        heapGrownBytes: Math.max(0, now.heapBytes - (warm ?? now).heapBytes),
        rssGrownBytes: Math.max(0, now.rssBytes - (warm ?? now).rssBytes),
        redisGrownBytes: (await usedBytes()) - redisAtStart,
        redisAllowedBytes: REDIS_OWN_BYTES + refused * REFUSED_BYTES + calls * AROUND_BYTES + bytes * BODY_COPIES,
        refused,
      };
    },
  };
}
