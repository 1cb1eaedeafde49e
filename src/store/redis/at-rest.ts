import type { Redis } from 'ioredis';
import { UnusableRecord } from '../../domain/outbox/unusable-record';
import { DataKeys, keyIdOf } from '../../platform/data-keys';
import { sha256Hex } from '../../platform/hash';
import { KEYS, PARTITION } from '../keys';
import type { Commit, Effect } from './commit';
import type { Fields } from './packed-fields';

/**
 * How values are stored. With data keys personal data is encrypted and plates are indexed as keyed hashes; without, all
 * is stored as it is. The connection decrypts replies, a commit encrypts what it writes, and scripts of their own store
 * the value of `storedText`. Nothing else knows.
 */

/**
 * Hashes with encrypted fields, by the first part of their key, and their plain fields: states, times and references. A
 * field that is not named is encrypted, so that a new one is encrypted too.
 */
const PLAIN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  tow: ['v', 'state', 'lease', 'run', 'proof', 'n'],
  violation: ['v', 'lease', 'run', 'n'],
  delivery: [
    'v',
    'id',
    'kind',
    'towingReferenceId',
    'state',
    'receivedAtMs',
    'copies',
    'failures',
    'parkedAtMs',
    'processedAtMs',
    'verified',
    'signatureId',
    'signedAtMs',
    'replays',
    'changeCount',
    'differenceId',
  ],
  tasks: [],
  idempotency: [],
  lookup: ['kept_at', 'checked_at', 'asker'],
  run: ['state', 'previewed_at', 'started_at', 'ended_at', 'done', 'refused', 'gone'],
  notifications: ['v'],
  subscription: ['v', 'progress'],
};
/** Parked deliveries of a tow: ids and times. */
const PARKED = /^w:/;
/** Lists with encrypted elements. */
const ENCRYPTED_LISTS: readonly string[] = ['other-calls'];

const plainFields = new Map(Object.entries(PLAIN_FIELDS).map(([name, fields]) => [name, new Set(fields)]));

/** The first part of a key behind the partition, such as `tow`. */
function familyOf(key: string): string {
  const start = PARTITION.length + 1;
  const end = key.indexOf(':', start);
  return end === -1 ? key.slice(start) : key.slice(start, end);
}

/** Whether a hash has encrypted fields. */
export function isEncryptedHash(key: string): boolean {
  return plainFields.has(familyOf(key));
}

/** Whether a list has encrypted elements. */
export function isEncryptedList(key: string): boolean {
  return ENCRYPTED_LISTS.includes(familyOf(key));
}

/** Whether a field of a hash is encrypted. */
export function isEncryptedField(key: string, field: string): boolean {
  return plainFields.get(familyOf(key))?.has(field) === false && !PARKED.test(field);
}

/** The place of a value in Redis; '' is the field of an element of a list. */
interface Place {
  readonly key: string;
  readonly field: string;
}

/** The place that an encrypted value is bound to. */
export function placeText({ key, field }: Place): string {
  return `${key}\n${field}`;
}

/** The keys of a connection; null: none. */
export function dataKeysOf(redis: Redis): DataKeys | null {
  return 'dataKeys' in redis && redis.dataKeys instanceof DataKeys ? redis.dataKeys : null;
}

/** What is stored for a value that a script of its own writes. */
export function storedText(redis: Redis, place: Place, text: string): string {
  return dataKeysOf(redis)?.encrypt(placeText(place), text) ?? text;
}

/** The value of what such a script read. */
export function textOf(redis: Redis, place: Place, stored: string): string {
  const keys = dataKeysOf(redis);
  return keys === null ? stored : decryptedAt(keys, place, stored);
}

const CHANGED = 'changed ';

/**
 * What these keys cannot decrypt is returned as it is, so that the decoder of the record refuses it; what was changed or
 * moved is marked for it.
 */
function decryptedAt(keys: DataKeys, place: Place, stored: string): string {
  const found = keys.decrypt(placeText(place), stored);
  switch (found.kind) {
    case 'text':
      return found.text;
    case 'unknown_key':
      return stored;
    case 'changed':
      return `${CHANGED}${stored}`;
  }
}

/** A record has values that are encrypted under a key that this process lacks. Its work waits for one that has it. */
class MissingDataKey extends UnusableRecord {
  override readonly name = 'MissingDataKey';

  constructor(readonly keyId: string) {
    super(`the record is encrypted under the key "${keyId}", which this process lacks (DATA_KEYS_FILE)`);
  }
}

/**
 * Called before a record is decoded. Plain fields may look like encrypted ones: senders of webhooks choose some of them.
 *
 * @throws MissingDataKey, or an error for a value that was changed or moved.
 */
export function requireReadable(family: 'tow' | 'violation' | 'delivery', fields: Fields): void {
  const plain = plainFields.get(family);
  for (const name in fields) {
    if (plain?.has(name)) continue;
    const text = fields[name] ?? '';
    const missing = keyIdOf(text);
    if (missing !== null) throw new MissingDataKey(missing);
    if (text.startsWith(CHANGED) && keyIdOf(text.slice(CHANGED.length)) !== null) {
      throw new Error(`the encrypted field ${name} of a record was changed, or moved from another record`);
    }
  }
}

/**
 * The reply to a command that reads. Of a list, elements under a key that is missing are left out. Replies of bytes stay
 * as they are stored.
 */
export function readReply(redis: Redis, name: string, args: readonly unknown[], reply: unknown): unknown {
  const keys = dataKeysOf(redis);
  const [key] = args;
  if (keys === null || typeof key !== 'string' || reply === null) return reply;
  const decrypted = (field: unknown, text: unknown) =>
    typeof text === 'string' && typeof field === 'string' && isEncryptedField(key, field)
      ? decryptedAt(keys, { key, field }, text)
      : text;
  switch (name.toLowerCase()) {
    case 'hget':
      return decrypted(args[1], reply);
    case 'hmget':
      return Array.isArray(reply) ? reply.map((text: unknown, at) => decrypted(args[at + 1], text)) : reply;
    case 'hgetall':
      return isEncryptedHash(key) ? readHash(reply, decrypted) : reply;
    case 'lrange':
      return Array.isArray(reply) && isEncryptedList(key) ? readList(reply, { keys, key }) : reply;
    default:
      return reply;
  }
}

/** The reply to HGETALL: an object, or a flat list of names and values in the reply of a script. */
function readHash(reply: unknown, decrypted: (field: unknown, text: unknown) => unknown): unknown {
  if (Array.isArray(reply)) {
    return reply.map((item: unknown, at) => (at % 2 === 0 ? item : decrypted(reply[at - 1], item)));
  }
  if (typeof reply !== 'object' || reply === null) return reply;
  return Object.fromEntries(Object.entries(reply).map(([field, text]) => [field, decrypted(field, text)]));
}

function readList(reply: readonly unknown[], { keys, key }: { keys: DataKeys; key: string }): unknown[] {
  const texts = reply.map((text) => (typeof text === 'string' ? decryptedAt(keys, { key, field: '' }, text) : text));
  return texts.filter((text) => typeof text !== 'string' || keyIdOf(text) === null);
}

/** The commit as it is stored. */
export function storedCommit(redis: Redis, commit: Commit): Commit {
  const keys = dataKeysOf(redis);
  if (keys === null) return commit;
  const stored = (key: string, field: string, text: string) =>
    isEncryptedField(key, field) ? keys.encrypt(placeText({ key, field }), text) : text;
  return {
    ...commit,
    records: commit.records.map((record) => {
      const { key, set } = record;
      if (set === undefined || !isEncryptedHash(key)) return record;
      const fields = Object.entries(set).map(([field, text]): [string, string] => [field, stored(key, field, text)]);
      return { ...record, set: Object.fromEntries(fields) };
    }),
    effects: commit.effects.map((effect): Effect => {
      const [command, key, ...args] = effect;
      if (command !== 'HSET' || !isEncryptedHash(key)) return storedTerm(keys, effect);
      const text = (arg: string | number, at: number) => stored(key, String(args[at - 1]), String(arg));
      return [command, key, ...args.map((arg, at) => (at % 2 === 0 ? arg : text(arg, at)))];
    }),
  };
}

const PLATE_TERM = 'plate:';
const HASHED_PLATE_TERM = 'plate#';
/** The range of index entries with a plate that is not hashed. */
export const plainPlates = { from: `[${PLATE_TERM}`, to: `[${PLATE_TERM}\u{10ffff}` } as const;

/** The effect with the hash of its plate, if it changes a search index. */
function storedTerm(keys: DataKeys, effect: Effect): Effect {
  const [command, key, ...args] = effect;
  const member = String(args.at(-1));
  const isSearch = key === KEYS.search || key === KEYS.searchViolations;
  if (!isSearch || !member.startsWith(PLATE_TERM)) return effect;
  const end = member.indexOf('\n');
  const hashed = `${hashedPlate(keys, member.slice(0, end))}${member.slice(end)}`;
  // A plate that was indexed before there were keys leaves the index, too.
  return command === 'ZREM' ? [command, key, hashed, member] : [command, key, ...args.slice(0, -1), hashed];
}

function hashedPlate(keys: DataKeys, term: string): string {
  return `${HASHED_PLATE_TERM}${keys.hash(term)}`;
}

/**
 * The beginnings of index entries that match the beginning of a term. With keys a plate is found only as a whole, or
 * where it is not hashed yet.
 */
export function storedPrefixes(redis: Redis, prefix: string): string[] {
  const keys = dataKeysOf(redis);
  return keys === null || !prefix.startsWith(PLATE_TERM) ? [prefix] : [prefix, `${hashedPlate(keys, prefix)}\n`];
}

/** The hash of a text for the name of a key: with data keys, one that only their holders can make. */
export function nameHash(redis: Redis, text: string): string {
  return dataKeysOf(redis)?.hash(text) ?? sha256Hex(text);
}
