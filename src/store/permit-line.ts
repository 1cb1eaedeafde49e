import type { Redis } from 'ioredis';
import { waitsForPermit } from '../domain/outbox-schedule';
import type { OutboxRecord } from '../domain/outbox-record';
import { repliesOf } from './chained';
import type { Effect } from './commit';
import { towKey, violationKey } from './keys';
import type { Fields } from './packed-fields';
import { textFieldsOf } from './parse';
import { PLACES } from './permits';
import { recordsOf } from './records';
import { decodeTow } from './tow-fields';
import { decodeViolation } from './violation-fields';

/**
 * Finds places in the lines for permits that no record waits at. A process that ends between taking a place and its commit
 * leaves one behind, and all behind it would wait for a permit that is never taken.
 */

/** Only the front of a line is looked at: what is behind moves up. */
const CHECKED_MAX = 20;
const CHECK_EVERY_MS = 10_000;

const RECORDS = {
  tow: { keyOf: towKey, decode: decodeTow },
  violation: { keyOf: violationKey, decode: (_id: string, fields: Fields) => decodeViolation(fields) },
} as const;

/** Takes places away whose records do not wait for a permit. To be called often; looks every 10 s. */
export function createLineCheck(redis: Redis, kind: OutboxRecord['kind']): () => Promise<void> {
  const records = recordsOf(redis);
  const { keyOf } = RECORDS[kind];
  const { line, due } = PLACES[kind];
  let nextMs = 0;
  /** Members that did not wait at the last look, by the version of their record. */
  let suspects: ReadonlyMap<string, string> = new Map();
  return async () => {
    const nowMs = await records.nowMs();
    if (nowMs < nextMs && nextMs <= nowMs + CHECK_EVERY_MS) return;
    nextMs = nowMs + CHECK_EVERY_MS;
    const members = await redis.zrange(line, '0', String(CHECKED_MAX - 1));
    const found = await membersThatDoNotWait(redis, kind, members);
    // A claim that is under way takes its place before its record is written: the record changes within seconds.
    const left = [...found].filter(([member, version]) => suspects.get(member) === version);
    suspects = found;
    const first = members.find((member) => !left.some(([gone]) => gone === member));
    const dueNow: Effect[] = first === undefined ? [] : [['ZADD', due, 'XX', 'LT', nowMs, first]];
    for (const [member, expected] of left) {
      await records.commit({
        records: [{ key: keyOf(member), expected }],
        effects: [['ZREM', line, member], ...dueNow],
      });
    }
  };
}

async function membersThatDoNotWait(
  redis: Redis,
  kind: OutboxRecord['kind'],
  members: readonly string[],
): Promise<Map<string, string>> {
  const { keyOf, decode } = RECORDS[kind];
  const reading = redis.pipeline();
  for (const member of members) reading.hgetall(keyOf(member));
  const hashes = members.length > 0 ? await repliesOf(reading) : [];
  const found = new Map<string, string>();
  members.forEach((member, at) => {
    const fields = textFieldsOf(hashes[at]);
    if (!waitsForPermit(recordIn(() => decode(member, fields)))) found.set(member, fields['v'] ?? '');
  });
  return found;
}

/** A record that cannot be read is not going to take its permit. */
function recordIn(decode: () => OutboxRecord | null): OutboxRecord | null {
  try {
    return decode();
  } catch {
    return null;
  }
}
