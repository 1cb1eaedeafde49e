import { z } from 'zod';
import { KEYS } from '../../src/store/keys';
import { eventually } from '../support/eventually';
import type { Stage } from './stage';

/** What a run left behind in the product's process and in Redis. */
export interface HttpMemory {
  /** By how much the heap grew after the warm-up, both measured after a garbage collection, with no work left. */
  readonly heapGrownBytes: number;
  readonly rssGrownBytes: number;
  /** By how much Redis grew beyond what it may keep of the calls that were taken in. */
  readonly redisGrownBytes: number;
  readonly redisAllowedBytes: number;
  readonly quarantined: number;
  readonly quarantineBytes: number;
}

/**
 * What Redis may keep of a call that was taken in: its body in the delivery and in the tow or note that it becomes, with
 * the records, indexes and audit around them.
 */
const BODY_COPIES = 4;
const AROUND_BYTES = 16 * 1024;
/** Of refused calls 500 are kept, each cut at 65,536 characters, which JSON may write with six bytes each. */
export const QUARANTINE_MAX = 500;
export const QUARANTINE_BYTES_MAX = QUARANTINE_MAX * (65_536 * 6 + 16 * 1024);
/** Scripts, connections, heartbeats and metrics. */
const REDIS_OWN_BYTES = 4 * 1024 * 1024;

const SETTLES_WITHIN_MS = 120_000;

export function memoryOf({ watch, redis, wire, consoleUrl, apiKey }: Stage) {
  let redisAtStart = 0;
  let warm: { heapBytes: number; rssBytes: number } | null = null;
  const queues = z.array(z.object({ waiting: z.number(), active: z.number() }));
  const untilIdle = () =>
    eventually(async () => {
      const headers = { authorization: `Bearer ${apiKey}` };
      const response = await wire.send(consoleUrl, {
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
      warm = await watch.look('collect');
    },
    async end(): Promise<HttpMemory> {
      await untilIdle();
      const now = await watch.look('collect');
      const { calls, bytes } = wire.taken();
      const quarantineBytes = Number((await redis.ask('MEMORY', 'USAGE', KEYS.quarantine, 'SAMPLES', '0')) ?? 0);
      return {
        heapGrownBytes: Math.max(0, now.heapBytes - (warm ?? now).heapBytes),
        rssGrownBytes: Math.max(0, now.rssBytes - (warm ?? now).rssBytes),
        redisGrownBytes: (await usedBytes()) - redisAtStart,
        redisAllowedBytes: REDIS_OWN_BYTES + quarantineBytes + calls * AROUND_BYTES + bytes * BODY_COPIES,
        quarantined: Number(await redis.ask('LLEN', KEYS.quarantine)),
        quarantineBytes,
      };
    },
  };
}
