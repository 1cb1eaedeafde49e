import type { Redis } from 'ioredis';
import type { ScanProgress } from '../contracts/conservation';
import { KEYS } from './keys';
import { byBytes } from './rows';

/** The ledger: the indexes that contain each acknowledged delivery, each tow and each violation once. */

const INDEXES = ['deliveries', 'tows', 'violations'] as const;
export type LedgerIndex = (typeof INDEXES)[number];

const KEY_OF: Readonly<Record<LedgerIndex, string>> = {
  deliveries: KEYS.indexDeliveries,
  tows: KEYS.indexTows,
  violations: KEYS.indexViolations,
};

export interface LedgerEntry {
  readonly index: LedgerIndex;
  readonly score: number;
  readonly member: string;
}

/** The highest score of each index. A scan stops there, so that it ends although entries are added meanwhile. */
export async function ledgerEnds(redis: Redis): Promise<ScanProgress['ends']> {
  const [deliveries, tows, violations] = await Promise.all(INDEXES.map((index) => lastScore(redis, KEY_OF[index])));
  return { deliveries: deliveries ?? 0, tows: tows ?? 0, violations: violations ?? 0 };
}

/** The number of entries. */
export async function ledgerSize(redis: Redis): Promise<number> {
  const sizes = await Promise.all(INDEXES.map((index) => redis.zcard(KEY_OF[index])));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function lastScore(redis: Redis, key: string): Promise<number> {
  const [, score] = await redis.zrevrange(key, 0, 0, 'WITHSCORES');
  return Number(score ?? 0);
}

/**
 * The next `count` entries after a cursor, fewer at the end of the ledger. A scan returns an entry that stays in the
 * ledger exactly once, even if others are added or removed meanwhile.
 */
export async function entriesAfter(
  redis: Redis,
  { place, ends }: Pick<ScanProgress, 'place' | 'ends'>,
  count: number,
): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = [];
  for (const index of INDEXES.slice(place ? INDEXES.indexOf(place.index) : 0)) {
    let after = place?.index === index ? place : null;
    while (found.length < count) {
      const part = await nextOf(redis, { index, after, end: ends[index], count: count - found.length });
      if (part.length === 0) break;
      found.push(...part);
      after = part.at(-1) ?? null;
    }
  }
  return found;
}

interface IndexRange {
  readonly index: LedgerIndex;
  readonly after: { readonly score: number; readonly member: string } | null;
  readonly end: number;
  readonly count: number;
}

/**
 * Up to `count` entries of one index after a cursor; none at the end. Equal scores are in byte order of their members.
 */
async function nextOf(redis: Redis, { index, after, end, count }: IndexRange): Promise<LedgerEntry[]> {
  // The entry of the cursor itself is usually read again.
  const size = count + 1;
  for (let offset = 0; ; offset += size) {
    const from = after?.score ?? '-inf';
    const flat = await redis.zrangebyscore(KEY_OF[index], from, end, 'WITHSCORES', 'LIMIT', offset, size);
    const entries: LedgerEntry[] = [];
    for (let at = 0; at + 1 < flat.length; at += 2) {
      const entry = { index, score: Number(flat[at + 1]), member: flat[at] ?? '' };
      const isSeen = after && entry.score === after.score && byBytes(entry.member, after.member) <= 0;
      if (!isSeen) entries.push(entry);
    }
    if (entries.length > 0 || flat.length < 2 * size) return entries.slice(0, count);
  }
}
