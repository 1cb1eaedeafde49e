import type { Redis } from 'ioredis';
import { apiKeyRecord, type ApiKeyRecord } from '../contracts/api-key-record';
import type { ApiKey, ApiKeyStore, ListedApiKey, Remember, Saved } from '../workflow/ports';
import { KEYS } from './keys';
import { text } from './parse';
import { recordsOf } from './records';
import { Script } from './scripts';
import type { Transaction } from './transaction';
import { wellFormedJson } from './well-formed';

const findApiKey = new Script('find-api-key');

/** Decisions on keys of one process are made one after another. */
const LINE = 'api-keys';
/** More than other processes could change one key while a change of it is decided. */
const TRIES_MAX = 20;

/** API keys by the hashes of their texts; a text is shown once, when it is made, and stored nowhere. */
export function createApiKeyStore(redis: Redis): ApiKeyStore {
  const records = recordsOf(redis);

  /** Decides on the key as it is stored, again when another process changes it meanwhile. */
  const change = async (
    id: string,
    remember: Remember | undefined,
    decide: (transaction: Transaction, record: ApiKeyRecord) => void,
  ): Promise<Saved> => {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const reply = await records.transact(LINE, async (transaction): Promise<Saved> => {
        const known = remember && (await transaction.fingerprintOf(remember.scope));
        if (known) return { kind: 'remembered', fingerprint: known };
        const json = await redis.hget(KEYS.apiKeys, id);
        if (json === null) return { kind: 'unknown' };
        transaction.remember(remember);
        transaction.check({ key: KEYS.apiKeys, field: id, value: json, name: 'key' });
        decide(transaction, recordOf(json));
        return { kind: 'saved' };
      });
      if (reply.kind === 'done') return reply.value;
      if (reply.check === 'remembered') return { kind: 'remembered', fingerprint: reply.value };
    }
    throw new Error('the key kept changing while a decision was made on it');
  };

  return {
    async findByHash(hash) {
      const json = await findApiKey.run(redis, [KEYS.apiKeys, KEYS.apiKeyHashes], [hash]);
      return json === null ? null : withoutHashes(recordOf(text(json, 'find-api-key')));
    },
    async read(id) {
      const [json, atMs] = await Promise.all([redis.hget(KEYS.apiKeys, id), records.nowMs()]);
      return json === null ? null : listed(recordOf(json), atMs);
    },
    async list() {
      const [all, atMs] = await Promise.all([redis.hvals(KEYS.apiKeys), records.nowMs()]);
      return all.map((json) => listed(recordOf(json), atMs)).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    },
    async create(key, hash, { audit, remember }) {
      const reply = await records.transact(LINE, async (transaction) => {
        const known = remember && (await transaction.fingerprintOf(remember.scope));
        if (known) return { kind: 'remembered', fingerprint: known } as const;
        if ((await redis.hget(KEYS.apiKeyNames, key.name)) !== null) return { kind: 'name_taken' } as const;
        transaction.remember(remember);
        transaction.check({ key: KEYS.apiKeyNames, field: key.name, value: '', name: 'name' });
        transaction.effect(
          ['HSET', KEYS.apiKeyNames, key.name, key.id],
          ['HSET', KEYS.apiKeys, key.id, wellFormedJson({ ...key, hash, previous: null } satisfies ApiKeyRecord)],
          ['HSET', KEYS.apiKeyHashes, hash, key.id],
        );
        transaction.audit(audit);
        return { kind: 'saved' } as const;
      });
      if (reply.kind === 'done') return reply.value;
      return reply.check === 'name' ? { kind: 'name_taken' } : { kind: 'remembered', fingerprint: reply.value };
    },
    rotate: (id, { hash, graceMs }, { audit, remember }) =>
      change(id, remember, (transaction, record) => {
        const previous = graceMs > 0 ? { hash: record.hash, validUntilMs: transaction.nowMs + graceMs } : null;
        // A text that was still valid from an earlier rotation ends at once.
        const ended = previous ? hashesOf(record).slice(1) : hashesOf(record);
        transaction.effect(
          ...ended.map((each) => ['HDEL', KEYS.apiKeyHashes, each] as const),
          ['HSET', KEYS.apiKeys, id, wellFormedJson({ ...record, hash, previous } satisfies ApiKeyRecord)],
          ['HSET', KEYS.apiKeyHashes, hash, id],
        );
        transaction.audit(audit);
      }),
    revoke: (id, audit) =>
      change(id, undefined, (transaction, record) => {
        transaction.effect(
          ['HDEL', KEYS.apiKeys, id],
          ['HDEL', KEYS.apiKeyNames, record.name],
          ['HDEL', KEYS.apiKeyHashes, ...hashesOf(record)],
        );
        transaction.audit(audit);
      }),
  };
}

/** The hash of the text that the key has, then that of the text before its last rotation, if any. */
function hashesOf({ hash, previous }: ApiKeyRecord): string[] {
  return previous ? [hash, previous.hash] : [hash];
}

function recordOf(json: string): ApiKeyRecord {
  return apiKeyRecord.parse(JSON.parse(json));
}

function withoutHashes({ id, name, role, createdAt }: ApiKeyRecord): ApiKey {
  return { id, name, role, createdAt };
}

function listed(record: ApiKeyRecord, nowMs: number): ListedApiKey {
  const untilMs = record.previous && record.previous.validUntilMs > nowMs ? record.previous.validUntilMs : null;
  return { ...withoutHashes(record), previousValidUntil: untilMs === null ? null : new Date(untilMs).toISOString() };
}
