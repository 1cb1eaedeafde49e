import type { Redis } from 'ioredis';
import type { ScanProgress } from '../../contracts/ops/conservation';
import { KEYS } from '../keys';
import { rowsOf } from '../outbox/rows';

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
    const after = place?.index === index ? place : null;
    const range = {
      key: KEY_OF[index],
      order: 'oldest',
      after,
      end: ends[index],
      count: count - found.length,
    } as const;
    const rows = await rowsOf(redis, range);
    found.push(...rows.map(({ place: { score, member } }) => ({ index, score, member })));
    if (found.length >= count) break;
  }
  return found;
}
