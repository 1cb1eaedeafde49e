import type { Redis } from 'ioredis';
import { z } from 'zod';
import { nextVersion } from '../../src/domain/outbox/outbox-record';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { readHashes } from '../../src/store/redis/batch-reads';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { deliveryKey } from '../../src/store/keys';
import { entriesAfter, ledgerEnds } from '../../src/store/ops/ledger';
import type { Migration } from '../../src/store/migrations';
import { migrate } from '../../src/store/migrations/run';
import { recordsOf } from '../../src/store/outbox/records';

/**
 * A migration as a release would have it: it renames a field of each delivery. Run as a program, it migrates REDIS_URL.
 * With DIES_IN_STEP the program kills itself before that step is stored.
 */

const RECORDS_PER_STEP = 200;
const cursorText = z.object({
  ends: z.object({ deliveries: z.number(), tows: z.number(), violations: z.number() }),
  place: z.object({ index: z.enum(['deliveries', 'tows', 'violations']), score: z.number(), member: z.string() }),
});

export const RENAMING: Migration = {
  number: 2,
  title: 'rename the field "old" of deliveries to "new"',
  async step(redis, text) {
    const cursor = text === null ? { place: null, ends: await ledgerEnds(redis) } : cursorText.parse(JSON.parse(text));
    const entries = await entriesAfter(redis, cursor, RECORDS_PER_STEP);
    const ids = entries.flatMap(({ index, member }) => (index === 'deliveries' ? [member] : []));
    await renameAll(redis, ids);
    const place = entries.at(-1);
    return place && entries.length === RECORDS_PER_STEP ? JSON.stringify({ ends: cursor.ends, place }) : null;
  },
};

/** Renames the field where it has its old name; again where a worker has changed the record meanwhile. */
async function renameAll(redis: Redis, ids: readonly string[]): Promise<void> {
  const hashes = await readHashes(redis, ids.map(deliveryKey));
  const stale = await Promise.all(
    ids.map(async (id, at) => {
      const { v: expected = '', old } = hashes[at] ?? {};
      if (old === undefined) return [];
      const version = nextVersion(expected, systemClock.id());
      const change = { key: deliveryKey(id), expected, version, set: { new: old }, remove: ['old'] };
      const reply = await recordsOf(redis).commit({ records: [change], effects: [] });
      return reply === 'done' ? [] : [id];
    }),
  );
  if (stale.flat().length > 0) await renameAll(redis, stale.flat());
}

/** The migration, with a crash before its step `fatal` is stored. */
function dyingIn(fatal: number): Migration {
  let steps = 0;
  return {
    ...RENAMING,
    step: async (redis, cursor) => {
      steps += 1;
      const next = await RENAMING.step(redis, cursor);
      if (steps === fatal) process.kill(process.pid, 'SIGKILL');
      return next;
    },
  };
}

async function main(): Promise<void> {
  const redis = connectFailFast(process.env['REDIS_URL'] ?? '', { log: silentLog });
  await whenReady(redis, 20_000);
  await migrate(redis, { migrations: [dyingIn(Number(process.env['DIES_IN_STEP']))], waitMs: 0 });
  redis.disconnect();
}

if (require.main === module) void main();
