import type { Redis } from 'ioredis';
import { storedDifference, storedExpected } from '../../contracts/service/differences';
import { jsonText } from '../../domain/stored';
import {
  type Difference,
  DIFFERENCES_MAX,
  type Expected,
  type SeenDifference,
  withoutRules,
} from '../../domain/service/difference';
import { differenceTask, differenceTaskId } from '../../domain/ops/tasks';
import type { DifferenceStore } from '../../workflow/ports';
import { readHashes } from '../redis/batch-reads';
import type { Check, CommitPart, Effect } from '../redis/commit';
import { differenceKey, differingDeliveriesKey, KEYS } from '../keys';
import { text } from '../redis/parse';
import { wellFormedJson } from '../scripts';
import { closingOf, keepingOpen } from '../ops/task-changes';

/**
 * Kinds of differences between the messages of the service and its document. A kind is one hash: `document`, `count`,
 * `first`, `last`, and `expected` once a person has declared it so.
 */

/** Messages of one kind, and when they were seen. */
interface Sighting {
  readonly seen: SeenDifference;
  /** 0 for a message that was counted before. */
  readonly count: number;
  readonly nowMs: number;
}

const storedDocument = jsonText(storedDifference);
const storedDecision = jsonText(storedExpected);

/** Counts messages; the first one of a kind opens its task. `openId`: the kind, while a task asks about it. */
export async function sightingWrites(
  redis: Redis,
  sighting: Sighting,
): Promise<CommitPart & { readonly openId: string | null }> {
  const { seen, count, nowMs } = sighting;
  const { id, source, name, shape, isTolerated, example } = seen;
  const key = differenceKey(id);
  const [isKnown, expected] = await Promise.all([redis.hexists(key, 'document'), redis.hget(key, 'expected')]);
  const counting: readonly Effect[] =
    count === 0
      ? []
      : [
          ['HINCRBY', key, 'count', count],
          ['HSET', key, 'last', nowMs],
        ];
  if (isKnown === 1) {
    if (isTolerated || expected !== null) return { checks: [], effects: counting, openId: null };
    return { checks: [isNotExpected(id)], effects: counting, openId: id };
  }
  const others = withoutRules(seen);
  if (id !== others.id && (await countOf(redis, source)) >= DIFFERENCES_MAX) {
    return sightingWrites(redis, { ...sighting, seen: others });
  }
  const task = isTolerated ? null : await keepingOpen(redis, differenceTask(seen), nowMs);
  return {
    checks: [{ key, field: 'document', value: '' }, ...(task?.checks ?? [])],
    effects: [
      ['HSET', key, 'document', wellFormedJson({ source, name, shape, isTolerated, example }), 'first', nowMs],
      ['ZADD', KEYS.differences, nowMs, id],
      ...counting,
      ...(task?.effects ?? []),
    ],
    openId: isTolerated ? null : id,
  };
}

async function countOf(redis: Redis, source: SeenDifference['source']): Promise<number> {
  const ids = await redis.zrange(KEYS.differences, '0', '-1');
  return ids.filter((id) => id.startsWith(`${source}.`)).length;
}

function isNotExpected(id: string): Check {
  return { key: differenceKey(id), field: 'expected', value: '' };
}

/** Declares a kind expected and closes its task. Nothing changes if it is already. Null when there is no such kind. */
export async function expectingWrites(
  redis: Redis,
  { id, ...given }: Omit<Expected, 'atMs'> & { readonly id: string },
  nowMs: number,
): Promise<(CommitPart & { readonly difference: Difference }) | null> {
  const [difference = null] = await readMany(redis, [id]);
  if (!difference || difference.expected !== null) return difference && { checks: [], effects: [], difference };
  const expected = { ...given, atMs: nowMs };
  const task = await closingOf(redis, differenceTaskId(id));
  return {
    checks: [isNotExpected(id), ...(task?.checks ?? [])],
    effects: [['HSET', differenceKey(id), 'expected', wellFormedJson(expected)], ...(task?.effects ?? [])],
    difference: { ...difference, expected },
  };
}

/** The differences for lists and pages. */
export function createDifferenceStore(redis: Redis): DifferenceStore {
  return {
    async all() {
      const ids = await redis.zrange(KEYS.differences, '0', '-1');
      return readMany(
        redis,
        ids.map((id) => text(id, 'a difference')),
      );
    },
  };
}

async function readMany(redis: Redis, ids: readonly string[]): Promise<readonly Difference[]> {
  const [hashes, waiting] = await Promise.all([
    readHashes(redis, ids.map(differenceKey)),
    Promise.all(ids.map((id) => redis.zcard(differingDeliveriesKey(id)))),
  ]);
  return hashes.flatMap((fields, at) => differenceIn(ids[at] ?? '', fields, waiting[at] ?? 0) ?? []);
}

function differenceIn(id: string, fields: Readonly<Record<string, string>>, waiting: number): Difference | null {
  const { document, expected, count = '0', first = '0', last = '0' } = fields;
  if (document === undefined) return null;
  return {
    ...storedDocument.parse(document),
    id,
    expected: expected === undefined ? null : storedDecision.parse(expected),
    count: Number(count),
    waiting,
    firstSeenMs: Number(first),
    lastSeenMs: Number(last),
  };
}
