import { UnusableRecord } from '../../domain/outbox/unusable-record';
import { sealingKeyOf, type DataKeys } from '../../platform/data-keys';
import { PARTITION } from '../keys';
import type { Fields } from '../redis/packed-fields';

/**
 * Which values are sealed in Redis, and their places. A field of these hashes that is not named as plain is sealed, so
 * that a new field is sealed too.
 */

/** Hashes with sealed fields, by the first part of their key, and their plain fields: states, times and references. */
const PLAIN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  tow: ['v', 'state', 'lease', 'run', 'proof'],
  violation: ['v', 'lease', 'run'],
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
    'differenceId',
  ],
  tasks: [],
  idempotency: [],
  lookup: ['kept_at', 'checked_at', 'asker'],
  run: ['state', 'previewed_at', 'started_at', 'ended_at', 'done', 'refused', 'gone'],
  notifications: ['v'],
};
/** Parked deliveries of a tow: ids and times. */
const PARKED = /^w:/;
/** Lists with sealed elements. */
const SEALED_LISTS: readonly string[] = ['other-calls'];

const plainFields = new Map(Object.entries(PLAIN_FIELDS).map(([name, fields]) => [name, new Set(fields)]));

/** The first part of a key behind the partition, such as `tow`. */
function familyOf(key: string): string {
  const start = PARTITION.length + 1;
  const end = key.indexOf(':', start);
  return end === -1 ? key.slice(start) : key.slice(start, end);
}

/** Whether a hash has sealed fields. */
export function isSealedHash(key: string): boolean {
  return plainFields.has(familyOf(key));
}

/** Whether a list has sealed elements. */
export function isSealedList(key: string): boolean {
  return SEALED_LISTS.includes(familyOf(key));
}

/** Whether a field of a sealed hash is sealed. */
export function isSealedField(key: string, field: string): boolean {
  return plainFields.get(familyOf(key))?.has(field) === false && !PARKED.test(field);
}

/** The place that a sealed value is bound to. An element of a list has the field ''. */
export function placeOf(key: string, field: string): string {
  return `${key}\n${field}`;
}

const CHANGED = 'changed ';

/**
 * The value of a stored one. What these keys cannot open is returned as it is, so that the decoder of the record refuses
 * it; what was changed or moved is marked for it.
 */
export function openedAt(keys: DataKeys, place: string, stored: string): string {
  const found = keys.open(place, stored);
  switch (found.kind) {
    case 'text':
      return found.text;
    case 'unknown_key':
      return stored;
    case 'changed':
      return `${CHANGED}${stored}`;
  }
}

/** A record has values that are sealed under a key that this process lacks. Its work waits for one that has it. */
class MissingDataKey extends UnusableRecord {
  override readonly name = 'MissingDataKey';

  constructor(readonly keyId: string) {
    super(`the record is sealed under the key "${keyId}", which this process lacks (DATA_KEYS_FILE)`);
  }
}

/**
 * Called before a record is decoded. Plain fields may look like sealed ones: senders of webhooks choose some of them.
 *
 * @throws MissingDataKey, or an error for a value that was changed or moved.
 */
export function refuseSealed(family: 'tow' | 'violation' | 'delivery', fields: Fields): void {
  const plain = plainFields.get(family);
  for (const name in fields) {
    if (plain?.has(name)) continue;
    const text = fields[name] ?? '';
    const missing = sealingKeyOf(text);
    if (missing !== null) throw new MissingDataKey(missing);
    if (text.startsWith(CHANGED) && sealingKeyOf(text.slice(CHANGED.length)) !== null) {
      throw new Error(`the sealed field ${name} of a record was changed, or moved from another record`);
    }
  }
}

/** The reply to a command, with its sealed values opened. Replies of bytes stay as they are stored. */
export function openReply(keys: DataKeys, name: string, args: readonly unknown[], reply: unknown): unknown {
  const [key] = args;
  if (typeof key !== 'string') return reply;
  const isSealed = (field: string) => isSealedList(key) || isSealedField(key, field);
  const open = (field: unknown, text: unknown) =>
    typeof text === 'string' && typeof field === 'string' && isSealed(field)
      ? openedAt(keys, placeOf(key, field), text)
      : text;
  switch (name.toLowerCase()) {
    case 'hget':
      return isSealedHash(key) ? open(args[1], reply) : reply;
    case 'hmget':
      if (!isSealedHash(key) || !Array.isArray(reply)) return reply;
      return reply.map((text: unknown, at) => open(args[at + 1], text));
    case 'hgetall':
      return isSealedHash(key) ? openHash(reply, open) : reply;
    case 'lrange':
      if (!isSealedList(key) || !Array.isArray(reply)) return reply;
      return reply.map((text: unknown) => open('', text));
    default:
      return reply;
  }
}

/** The reply to HGETALL: an object, or a flat list of names and values in the reply of a script. */
function openHash(reply: unknown, open: (field: unknown, text: unknown) => unknown): unknown {
  if (Array.isArray(reply)) return reply.map((item: unknown, at) => (at % 2 === 0 ? item : open(reply[at - 1], item)));
  if (typeof reply !== 'object' || reply === null) return reply;
  return Object.fromEntries(Object.entries(reply).map(([field, text]) => [field, open(field, text)]));
}
