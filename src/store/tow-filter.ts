import type { Redis } from 'ioredis';
import type { OverdueAfter } from '../domain/overdue';
import type { TowFilter } from '../workflow/list-port';
import { KEYS, towsInStateKey, towsOfCrewKey, towsSinceKey, unsentTowsKey } from './keys';
import type { Row } from './rows';

/** Which tows pass a filter, by the indexes they stand in. */

/** The indexes that tell who is overdue, in the order of OverdueAfter: by the moment since which that stands still. */
export const OVERDUE_KEYS = [towsSinceKey('requested'), towsSinceKey('started'), unsentTowsKey] as const;

/** Who stands in this index since before that moment is overdue. Who never is overdue has no row here. */
export type OverdueLimits = readonly { readonly key: string; readonly before: number }[];

export function overdueLimits(after: OverdueAfter, nowMs: number): OverdueLimits {
  return [after.requestedMs, after.startedMs, after.reportMs].flatMap((afterMs, at) => {
    const key = OVERDUE_KEYS[at];
    return afterMs > 0 && key !== undefined ? [{ key, before: nowMs - afterMs }] : [];
  });
}

/** The rows that pass, as far as indexes tell; undefined when every row does. `sure`: what is true of every row anyway. */
export function keptBy(
  redis: Redis,
  { sure, ...filter }: TowFilter & { readonly sure: 'states' | 'crew' | null },
  limits: OverdueLimits | null,
): ((rows: readonly Row[]) => Promise<readonly Row[]>) | undefined {
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

/** What must be true of a tow besides the others: that it stands in one of these indexes, before a moment if there is one. */
type Condition = readonly { readonly key: string; readonly before: number }[];

function conditions(filter: TowFilter, limits: OverdueLimits | null): Condition[] {
  const anyMoment = (key: string) => ({ key, before: Infinity });
  return [
    ...(filter.states.length > 0 ? [filter.states.map((state) => anyMoment(towsInStateKey(state)))] : []),
    ...(filter.crew === null ? [] : [[anyMoment(towsOfCrewKey(filter.crew))]]),
    ...(filter.attention ? [[anyMoment(KEYS.attention)]] : []),
    ...(filter.unsent ? [[anyMoment(unsentTowsKey)]] : []),
    ...(limits ? [limits] : []),
  ];
}

function isBefore(score: string | number | null | undefined, before: number): boolean {
  return score !== null && score !== undefined && Number(score) < before;
}
