import type { Redis } from 'ioredis';
import { keyIdOf, type DataKeys } from '../../platform/data-keys';
import type { Effect } from '../redis/commit';
import { KEYS, PARTITION, towKey, violationKey } from '../keys';
import { isEncryptedField, isEncryptedHash, isEncryptedList, placeText, plainPlates } from '../redis/at-rest';
import { recordsOf } from '../outbox/records';
import { Script } from '../scripts';

/** Encrypts what is stored in Redis under the first key, beside the running processes. */

const replaceElement = new Script('replace-element');

const KEYS_PER_STEP = 200;
/** Fields of one commit, so that Redis can serve other clients in between. */
const FIELDS_PER_COMMIT = 100;
/** How often a record is read again that changes meanwhile. Then it counts as it is. */
const TRIES_MAX = 5;
const PLATE_INDEXES = [KEYS.search, KEYS.searchViolations];

/** The keys of hashes and lists with encrypted values, in steps. A key may come twice. */
async function* keysWithValues(redis: Redis): AsyncGenerator<string[]> {
  let cursor = '0';
  do {
    const [next, names] = await redis.scan(cursor, 'MATCH', `${PARTITION}:*`, 'COUNT', KEYS_PER_STEP);
    yield names.filter((name) => isEncryptedHash(name) || isEncryptedList(name));
    cursor = next;
  } while (cursor !== '0');
}

/** The ids of the keys that the values are encrypted under, one for each value; null for a plain one. */
export async function* valueKeys(redis: Redis): AsyncGenerator<string | null> {
  for await (const names of keysWithValues(redis)) {
    for (const name of names) {
      for (const { stored } of await storedValues(redis, name)) yield keyIdOf(stored);
    }
  }
  for (const index of PLATE_INDEXES) {
    const plain = await redis.zlexcount(index, plainPlates.from, plainPlates.to);
    for (let plate = 0; plate < plain; plate += 1) yield null;
  }
}

/**
 * Encrypts everything under the first key that is plain or under another one, and indexes plates by their hashes. A
 * value that cannot be decrypted stays as it is. May be ended and repeated at any time. `onStep` is called with the
 * number of keys of Redis that were read.
 */
export async function reencryptValues(
  redis: Redis,
  { keys, onStep }: { readonly keys: DataKeys; readonly onStep: (keys: number) => void },
): Promise<void> {
  for await (const names of keysWithValues(redis)) {
    for (const name of names) {
      await (isEncryptedList(name) ? reencryptList(redis, name, keys) : reencryptHash(redis, name, keys));
    }
    onStep(names.length);
  }
  for (const index of PLATE_INDEXES) await hashPlates(redis, index);
}

interface StoredValue {
  /** '' for an element of a list. */
  readonly field: string;
  readonly stored: string;
}

/** The values as they are stored: the connection does not decrypt replies of bytes. */
async function storedValues(redis: Redis, key: string): Promise<StoredValue[]> {
  if (isEncryptedList(key)) {
    return (await redis.lrangeBuffer(key, 0, -1)).map((element) => ({ field: '', stored: element.toString() }));
  }
  return Object.entries(await redis.hgetallBuffer(key)).flatMap(([field, value]) =>
    isEncryptedField(key, field) ? [{ field, stored: value.toString() }] : [],
  );
}

/** The values that are not encrypted under the first key, with their text. */
async function staleValues(redis: Redis, key: string, keys: DataKeys): Promise<(StoredValue & { text: string })[]> {
  return (await storedValues(redis, key)).flatMap(({ field, stored }) => {
    if (keyIdOf(stored) === keys.first) return [];
    const found = keys.decrypt(placeText({ key, field }), stored);
    return found.kind === 'text' ? [{ field, stored, text: found.text }] : [];
  });
}

async function reencryptList(redis: Redis, key: string, keys: DataKeys): Promise<void> {
  for (const { field, stored, text } of await staleValues(redis, key, keys)) {
    await replaceElement.run(redis, [key], [stored, keys.encrypt(placeText({ key, field }), text)]);
  }
}

/** A commit encrypts what it writes. A version or field that changed meanwhile makes it stale; then it is read again. */
async function reencryptHash(redis: Redis, key: string, keys: DataKeys): Promise<void> {
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
