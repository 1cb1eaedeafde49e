import type { Redis } from 'ioredis';
import { apiKeyRecord, type ApiKeyRecord } from '../../contracts/outbox/records';
import { isoOrNull } from '../../domain/timestamp';
import { done, refused, transactOnce, type ActionResult } from '../../workflow/action-result';
import { KEY_NAME_TAKEN, KEY_NOT_FOUND } from '../../workflow/identity-port';
import type { ApiKey, ApiKeyStore, ListedApiKey } from '../../workflow/ports';
import type { IdempotencyRecord } from '../../workflow/transaction-port';
import { KEYS } from '../keys';
import { recordsOf } from '../outbox/records';
import { wellFormedJson } from '../scripts';
import type { RecordTransaction } from '../redis/transaction';

const ORDER_KEY = 'api-keys';

/** API keys by the hashes of their texts. A text is returned once, when it is created, and stored nowhere. */
export function createApiKeyStore(redis: Redis): ApiKeyStore {
  const records = recordsOf(redis);

  /** Decides on a stored key, again if another process changes it meanwhile. */
  const change = (
    id: string,
    idempotency: IdempotencyRecord | undefined,
    decide: (transaction: RecordTransaction, record: ApiKeyRecord) => void,
  ): Promise<ActionResult> =>
    transactOnce(records, { orderKey: ORDER_KEY, idempotency }, async (transaction) => {
      const json = await redis.hget(KEYS.apiKeys, id);
      if (json === null) return refused(KEY_NOT_FOUND);
      transaction.check({ key: KEYS.apiKeys, field: id, value: json });
      decide(transaction, recordOf(json));
      return done(null);
    });

  return {
    async findByHash(hash) {
      const id = await redis.hget(KEYS.apiKeyHashes, hash);
      const json = id === null ? null : await redis.hget(KEYS.apiKeys, id);
      if (json === null) return null;
      const record = recordOf(json);
      // The key may have been rotated between the two reads, so its record decides.
      const isValid = record.hash === hash || validPrevious(record, await records.nowMs())?.hash === hash;
      return isValid ? withoutHashes(record) : null;
    },
    async read(id) {
      const [json, atMs] = await Promise.all([redis.hget(KEYS.apiKeys, id), records.nowMs()]);
      return json === null ? null : listed(recordOf(json), atMs);
    },
    async list() {
      const [all, atMs] = await Promise.all([redis.hvals(KEYS.apiKeys), records.nowMs()]);
      return all.map((json) => listed(recordOf(json), atMs)).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    },
    create: (key, hash, { audit, idempotency, answer }) =>
      transactOnce(records, { orderKey: ORDER_KEY, idempotency }, async (transaction) => {
        if ((await redis.hget(KEYS.apiKeyNames, key.name)) !== null) return refused(KEY_NAME_TAKEN);
        transaction.check({ key: KEYS.apiKeyNames, field: key.name, value: '' });
        transaction.effect(
          ['HSET', KEYS.apiKeyNames, key.name, key.id],
          ['HSET', KEYS.apiKeys, key.id, wellFormedJson({ ...key, hash, previous: null } satisfies ApiKeyRecord)],
          ['HSET', KEYS.apiKeyHashes, hash, key.id],
        );
        transaction.audit(audit);
        return done(answer);
      }),
    rotate: (id, { hash, graceMs }, { audit, idempotency }) =>
      change(id, idempotency, (transaction, record) => {
        const previous = graceMs > 0 ? { hash: record.hash, validUntilMs: transaction.nowMs + graceMs } : null;
        // A text that is still valid from an earlier rotation becomes invalid at once.
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

/** The hash of the current text, then that of the text before its last rotation, if any. */
function hashesOf({ hash, previous }: ApiKeyRecord): string[] {
  return previous ? [hash, previous.hash] : [hash];
}

function recordOf(json: string): ApiKeyRecord {
  return apiKeyRecord.parse(JSON.parse(json));
}

function withoutHashes({ id, name, role, createdAt }: ApiKeyRecord): ApiKey {
  return { id, name, role, createdAt };
}

/** The text before the last rotation; null after its grace time. */
function validPrevious({ previous }: ApiKeyRecord, nowMs: number): ApiKeyRecord['previous'] {
  return previous !== null && nowMs < previous.validUntilMs ? previous : null;
}

function listed(record: ApiKeyRecord, nowMs: number): ListedApiKey {
  const untilMs = validPrevious(record, nowMs)?.validUntilMs ?? null;
  return { ...withoutHashes(record), previousValidUntil: isoOrNull(untilMs) };
}
