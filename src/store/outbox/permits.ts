import type { Redis } from 'ioredis';
import { recordIdOf, type OutboxRecord, type RecordKind } from '../../domain/outbox/outbox-record';
import { isWaitingForPermit, permitRankOf } from '../../domain/outbox/outbox-schedule';
import { readHashes } from '../redis/batch-reads';
import type { RateLimit } from '../service/budgets';
import type { Effect } from '../redis/commit';
import { budgetStateField, KEYS } from '../keys';
import { texts } from '../redis/parse';
import { permitPlaces } from './permit-places';
import { decodeRecord, RECORD_KEYS } from './record-kinds';
import { recordsOf } from './records';
import { Script } from '../scripts';
import { isTransient } from '../redis/until-answered';

/** The rate limit permits of tows and violations, and the queue of the records that wait for one. */

const takePermit = new Script('take-permit');
const returnPermit = new Script('return-permit');

/**
 * Takes a permit for a record. Without a free one, the record joins the waiting queue. `whenFull` as for its
 * commit.
 */
export async function permitFor(
  redis: Redis,
  record: OutboxRecord,
  { limit, windowMs }: RateLimit,
  { nowMs, whenFull }: { readonly nowMs: number; readonly whenFull: boolean },
): Promise<{ grantedAtMs: number } | { waitUntilMs: number }> {
  const { budget, permits, permitQueue } = RECORD_KEYS[record.kind];
  const args = [recordIdOf(record), permitRankOf(record, nowMs), limit, windowMs, budgetStateField(budget)];
  const keys = [permits, permitQueue, KEYS.circuits];
  const reply = await takePermit.run(redis, keys, args, { whenFull });
  const [isGranted, atMs] = texts(reply, 'take-permit');
  return isGranted === '1' ? { grantedAtMs: Number(atMs) } : { waitUntilMs: Number(atMs) };
}

/**
 * Returns a permit that no call has used, so that the first waiting record can take it. Best effort, because the
 * decision made with the permit is already stored: a permit that is not returned is free after its window.
 */
export async function givePermitBack(redis: Redis, kind: RecordKind, grantedAtMs: number): Promise<void> {
  const { budget, permits, permitQueue, due } = RECORD_KEYS[kind];
  try {
    await returnPermit.run(redis, [permits, permitQueue, KEYS.circuits, due], [grantedAtMs, budgetStateField(budget)]);
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
}

/** Members at the front of the waiting queue that one check reads. */
const CHECKED_MAX = 20;
const CHECK_INTERVAL_MS = 10_000;

/**
 * Creates a check that removes members from the waiting queue whose records do not wait for a permit. A process that
 * dies between joining the queue and its commit leaves such a member, and all behind it would wait for a permit that is
 * never taken. With a rate limit, members at the front that now get their permits earlier than they expected become due
 * then. The check may be called at any time; it runs at most every 10 s.
 */
export function createPermitQueueCheck(redis: Redis, kind: RecordKind, rateLimit?: RateLimit): () => Promise<void> {
  const records = recordsOf(redis);
  const { record: keyOf, permitQueue, due } = RECORD_KEYS[kind];
  let nextMs = 0;
  /** Members that did not wait at the last check, by the version of their record. */
  let suspects: ReadonlyMap<string, string> = new Map();
  return async () => {
    const nowMs = await records.nowMs();
    if (nowMs < nextMs && nextMs <= nowMs + CHECK_INTERVAL_MS) return;
    nextMs = nowMs + CHECK_INTERVAL_MS;
    const members = await redis.zrange(permitQueue, '0', String(CHECKED_MAX - 1));
    const notWaiting = await membersNotWaiting(redis, kind, members);
    // A running claim joins the queue before it writes the record, within seconds: only an unchanged record is removed.
    const abandoned = [...notWaiting].filter(([member, version]) => suspects.get(member) === version);
    suspects = notWaiting;
    const first = members.find((member) => !abandoned.some(([gone]) => gone === member));
    const wakeFirst: Effect[] = first === undefined ? [] : [['ZADD', due, 'XX', 'LT', nowMs, first]];
    for (const [member, expected] of abandoned) {
      await records.commit({
        records: [{ key: keyOf(member), expected }],
        effects: [['ZREM', permitQueue, member], ...wakeFirst],
      });
    }
    if (!rateLimit || members.length === 0) return;
    const places = await permitPlaces(redis, kind, rateLimit, members);
    const scheduling = redis.pipeline();
    for (const [member, { leavesAtMs }] of places) scheduling.zadd(due, 'XX', 'LT', leavesAtMs, member);
    await scheduling.exec();
  };
}

/** Those of the members whose records do not wait for a permit, with the version of the record. */
async function membersNotWaiting(
  redis: Redis,
  kind: RecordKind,
  members: readonly string[],
): Promise<Map<string, string>> {
  const hashes = await readHashes(redis, members.map(RECORD_KEYS[kind].record));
  const found = new Map<string, string>();
  members.forEach((member, at) => {
    const fields = hashes[at] ?? {};
    const record = decodedOrNull(() => decodeRecord(kind, member, fields));
    if (!isWaitingForPermit(record)) found.set(member, fields['v'] ?? '');
  });
  return found;
}

/** Null also for a record that cannot be decoded: no worker can claim it and take a permit. */
function decodedOrNull(decode: () => OutboxRecord | null): OutboxRecord | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
