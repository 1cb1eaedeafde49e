import type { Redis } from 'ioredis';
import { storedCalls, storedMessages } from '../../contracts/service/seen-service';
import { jsonText } from '../../domain/stored';
import { type SeenService, withCalls, withMessages } from '../../domain/service/seen-service';
import type { SeenServiceStore, StoredService } from '../../workflow/service/service-view';
import { KEYS } from '../keys';
import type { Fields } from '../redis/packed-fields';
import { recordsOf } from '../outbox/records';
import { redisTimeMs } from '../redis/redis-time';
import { ignoreUnconfirmed } from '../redis/replicas';

/**
 * What all processes have seen of the service: one hash with a version, to which each adds every few seconds. Messages
 * and calls have a field each.
 */

const MESSAGES_PREFIX = 'messages:';
const CALLS_PREFIX = 'calls:';

export function createSeenServiceStore(redis: Redis): SeenServiceStore & {
  /** Adds what a process has seen. Not repeated, so that nothing counts twice. */
  add(seen: SeenService): Promise<void>;
} {
  const records = recordsOf(redis);
  return {
    async read() {
      const [fields, nowMs] = await Promise.all([redis.hgetall(KEYS.seenService), redisTimeMs(redis)]);
      return { stored: storedIn(fields), nowMs };
    },
    async add({ messages, calls }) {
      const adding = records.transact(KEYS.seenService, async (transaction) => {
        const { nowMs } = transaction;
        const fields: Fields = await redis.hgetall(KEYS.seenService);
        const known = storedIn(fields);
        const set: Record<string, string> = {};
        for (const [name, seen] of Object.entries(messages)) {
          set[`${MESSAGES_PREFIX}${name}`] = JSON.stringify(withMessages(known.messages[name] ?? null, seen, nowMs));
        }
        for (const [name, seen] of Object.entries(calls)) {
          set[`${CALLS_PREFIX}${name}`] = JSON.stringify(withCalls(known.calls[name] ?? {}, seen, nowMs));
        }
        transaction.change({ key: KEYS.seenService, expected: fields['v'] ?? '', set });
      });
      await ignoreUnconfirmed(adding);
    },
  };
}

const messagesText = jsonText(storedMessages);
const callsText = jsonText(storedCalls);

function storedIn(fields: Fields): StoredService {
  return {
    messages: storedUnder(MESSAGES_PREFIX, messagesText, fields),
    calls: storedUnder(CALLS_PREFIX, callsText, fields),
  };
}

/** A field that cannot be read counts as absent; the next report of it replaces it. */
function storedUnder<T>(
  prefix: string,
  schema: { safeParse(json: string): { data?: T | undefined } },
  fields: Fields,
): Record<string, T> {
  const stored = Object.entries(fields).flatMap(([field, json]): [string, T][] => {
    if (!field.startsWith(prefix)) return [];
    const { data } = schema.safeParse(json);
    return data === undefined ? [] : [[field.slice(prefix.length), data]];
  });
  return Object.fromEntries(stored);
}
