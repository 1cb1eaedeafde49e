import type { Redis } from 'ioredis';
import { OVERDUE_STATES, type OverdueAfter } from '../../domain/outbox/overdue';
import type { TowFilter } from '../../workflow/list-port';
import { KEYS, towsInStateKey, towsOfCrewKey, towsSinceKey, unsentTowsKey } from '../keys';
import type { ListRow } from '../outbox/rows';

/** Filters tows by their index entries. */

/** The indexes of overdue tows, in the order of OverdueAfter. The score is the time since which a tow has waited. */
const OVERDUE_KEYS = [...OVERDUE_STATES.map(towsSinceKey), unsentTowsKey];

/** A tow in the index `key` with a score below `before` is overdue. A limit of 0 has no entry here. */
export type OverdueLimits = readonly { readonly key: string; readonly before: number }[];

export function overdueLimits(after: OverdueAfter, nowMs: number): OverdueLimits {
  return [after.requestedMs, after.startedMs, after.reportMs].flatMap((afterMs, at) => {
    const key = OVERDUE_KEYS[at];
    return afterMs > 0 && key !== undefined ? [{ key, before: nowMs - afterMs }] : [];
  });
}

/**
 * Filters rows by their index entries; undefined when every row passes. `sure`: the part that every row already passes.
 */
export function keptBy(
  redis: Redis,
  { sure, ...filter }: TowFilter & { readonly sure: 'states' | 'crew' | null },
  limits: OverdueLimits | null,
): ((rows: readonly ListRow[]) => Promise<readonly ListRow[]>) | undefined {
  const asked = conditions(
    { ...filter, states: sure === 'states' ? [] : filter.states, crew: sure === 'crew' ? null : filter.crew },
    limits,
  );
  if (asked.length === 0) return undefined;
  return async (rows) => {
    if (rows.length === 0) return rows;
    const refs = rows.map(({ ref }) => ref);
    const passed = await Promise.all(
      asked.map(async (anyOf) => {
        const scores = await Promise.all(anyOf.map(({ key }) => redis.zmscore(key, ...refs)));
        return (at: number) => anyOf.some(({ before }, index) => isBefore(scores[index]?.[at], before));
      }),
    );
    return rows.filter((_row, at) => passed.every((passes) => passes(at)));
  };
}

/** True for a tow that is in one of these indexes with a score below `before`. */
type Condition = readonly { readonly key: string; readonly before: number }[];

function conditions(filter: TowFilter, limits: OverdueLimits | null): Condition[] {
  const atAnyTime = (key: string) => ({ key, before: Infinity });
  return [
    ...(filter.states.length > 0 ? [filter.states.map((state) => atAnyTime(towsInStateKey(state)))] : []),
    ...(filter.crew === null ? [] : [[atAnyTime(towsOfCrewKey(filter.crew))]]),
    ...(filter.attention ? [[atAnyTime(KEYS.attention)]] : []),
    ...(filter.unsent ? [[atAnyTime(unsentTowsKey)]] : []),
    ...(limits ? [limits] : []),
  ];
}

function isBefore(score: string | number | null | undefined, before: number): boolean {
  return score !== null && score !== undefined && Number(score) < before;
}
