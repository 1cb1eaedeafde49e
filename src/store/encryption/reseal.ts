import type { Redis } from 'ioredis';
import { sealingKeyOf, type DataKeys } from '../../platform/data-keys';
import type { Effect } from '../redis/commit';
import { KEYS, PARTITION, towKey, violationKey } from '../keys';
import { recordsOf } from '../outbox/records';
import { Script } from '../scripts';
import { isSealedField, isSealedHash, isSealedList, placeOf } from './sealed-fields';
import { plainPlates } from './sealed-commit';

/** Seals what is stored in Redis under the first key, beside the running processes. */

const resealElement = new Script('reseal-element');

const KEYS_PER_STEP = 200;
/** Fields of one commit, so that Redis can serve other clients in between. */
const FIELDS_PER_COMMIT = 100;
/** How often a record is read again that changes meanwhile. Then it counts as it is. */
const TRIES_MAX = 5;
const PLATE_INDEXES = [KEYS.search, KEYS.searchViolations];

/** How many values are sealed under which key. */
export interface SealedCounts {
  readonly byKey: ReadonlyMap<string, number>;
  /** Values that are not sealed. */
  readonly plain: number;
}

/** The keys of hashes and lists with sealed values, in steps. A key may come twice. */
async function* sealedKeys(redis: Redis): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, names] = await redis.scan(cursor, 'MATCH', `${PARTITION}:*`, 'COUNT', KEYS_PER_STEP);
    yield names.filter((name) => isSealedHash(name) || isSealedList(name));
    cursor = next;
  } while (cursor !== '0');
}

/** Counts the values under each key. @param onStep is called with the number of keys of Redis that were read. */
export async function countSealed(redis: Redis, onStep: (keys: number) => void = () => {}): Promise<SealedCounts> {
  const byKey = new Map<string, number>();
  let plain = 0;
  for await (const names of sealedKeys(redis)) {
    for (const name of names) {
      for (const { stored } of await storedValues(redis, name)) {
        const id = sealingKeyOf(stored);
        if (id === null) plain += 1;
        else byKey.set(id, (byKey.get(id) ?? 0) + 1);
      }
    }
    onStep(names.length);
  }
  for (const index of PLATE_INDEXES) plain += await redis.zlexcount(index, plainPlates.from, plainPlates.to);
  return { byKey, plain };
}

/**
 * Seals everything under the first key that is plain or sealed under another one, and indexes plates by their hashes. A
 * value that cannot be opened stays as it is. May be ended and repeated at any time.
 */
export async function resealAll(
  redis: Redis,
  keys: DataKeys,
  onStep: (keys: number) => void = () => {},
): Promise<void> {
  for await (const names of sealedKeys(redis)) {
    for (const name of names)
      await (isSealedList(name) ? resealList(redis, name, keys) : resealHash(redis, name, keys));
    onStep(names.length);
  }
  for (const index of PLATE_INDEXES) await hashPlates(redis, index);
}

interface StoredValue {
  /** '' for an element of a list. */
  readonly field: string;
  readonly stored: string;
}

/** The values as they are stored: the connection does not open replies of bytes. */
async function storedValues(redis: Redis, key: string): Promise<StoredValue[]> {
  if (isSealedList(key)) {
    return (await redis.lrangeBuffer(key, 0, -1)).map((element) => ({ field: '', stored: element.toString() }));
  }
  return Object.entries(await redis.hgetallBuffer(key)).flatMap(([field, value]) =>
    isSealedField(key, field) ? [{ field, stored: value.toString() }] : [],
  );
}

/** The values that are not sealed under the first key, with their text. */
async function staleValues(redis: Redis, key: string, keys: DataKeys): Promise<(StoredValue & { text: string })[]> {
  return (await storedValues(redis, key)).flatMap(({ field, stored }) => {
    if (sealingKeyOf(stored) === keys.first) return [];
    const found = keys.open(placeOf(key, field), stored);
    return found.kind === 'text' ? [{ field, stored, text: found.text }] : [];
  });
}

async function resealList(redis: Redis, key: string, keys: DataKeys): Promise<void> {
  for (const { field, stored, text } of await staleValues(redis, key, keys)) {
    await resealElement.run(redis, [key], [stored, keys.seal(placeOf(key, field), text)]);
  }
}

/** A commit seals what it writes. A version or field that changed meanwhile makes it stale; then it is read again. */
async function resealHash(redis: Redis, key: string, keys: DataKeys): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const version = await redis.hget(key, 'v');
    const stale = await staleValues(redis, key, keys);
    if (stale.length === 0) return;
    const part = stale.slice(0, FIELDS_PER_COMMIT);
    const reply = await recordsOf(redis).commit(
      version === null ? fieldsCommit(key, part) : recordCommit(key, version, stale),
    );
    // The rest of a large hash.
    if (reply === 'done') tries = 0;
  }
}

/** The version stays: the record is the same, and a lease on it goes on. */
function recordCommit(key: string, version: string, stale: readonly { field: string; text: string }[]) {
  const set = Object.fromEntries(stale.map(({ field, text }) => [field, text]));
  return { records: [{ key, expected: version, version, set }], effects: [] };
}

function fieldsCommit(key: string, stale: readonly (StoredValue & { text: string })[]) {
  return {
    records: [],
    checks: stale.map(({ field, stored }) => ({ key, field, value: stored })),
    effects: stale.map(({ field, text }): Effect => ['HSET', key, field, text]),
  };
}

/** Replaces plates in a search index, which a commit hashes, as long as their records exist. */
async function hashPlates(redis: Redis, index: string): Promise<void> {
  for (let from: string = plainPlates.from; ;) {
    const members = await redis.zrangebylex(index, from, plainPlates.to, 'LIMIT', 0, KEYS_PER_STEP);
    for (const member of members) await hashPlate(redis, index, member);
    if (members.length < KEYS_PER_STEP) return;
    from = `(${members.at(-1) ?? ''}`;
  }
}

async function hashPlate(redis: Redis, index: string, member: string): Promise<void> {
  const keyOf = index === KEYS.search ? towKey : violationKey;
  const key = keyOf(member.slice(member.indexOf('\n') + 1));
  for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
    const expected = (await redis.hget(key, 'v')) ?? '';
    const effects: Effect[] = [['ZREM', index, member]];
    if (expected !== '') effects.push(['ZADD', index, 0, member]);
    if ((await recordsOf(redis).commit({ records: [{ key, expected }], effects })) === 'done') return;
  }
}
