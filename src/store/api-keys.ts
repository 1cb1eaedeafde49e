import type { Redis } from 'ioredis';
import { apiKeyRecord, type ApiKeyRecord } from '../contracts/api-key-record';
import type { ApiKey, ApiKeyStore, ListedApiKey, Remember } from '../workflow/ports';
import { KEYS, towKeys } from './keys';
import { text, texts } from './parse';
import { savedOf } from './saved';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const findApiKey = new Script('find-api-key');
const createApiKey = new Script('create-api-key');
const rotateApiKey = new Script('rotate-api-key');
const revokeApiKey = new Script('revoke-api-key');

/** API keys by the hashes of their texts; a text is shown once, when it is made, and stored nowhere. */
export function createApiKeyStore(redis: Redis): ApiKeyStore {
  const nowMs = async () => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  };
  return {
    async findByHash(hash) {
      const json = await findApiKey.run(redis, [KEYS.apiKeys, KEYS.apiKeyHashes], [hash]);
      return json === null ? null : withoutHashes(recordOf(text(json, 'find-api-key')));
    },
    async read(id) {
      const [json, at] = await Promise.all([redis.hget(KEYS.apiKeys, id), nowMs()]);
      return json === null ? null : listed(recordOf(json), at);
    },
    async list() {
      const [all, at] = await Promise.all([redis.hvals(KEYS.apiKeys), nowMs()]);
      return all.map((json) => listed(recordOf(json), at)).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    },
    async create(key, hash, { audit, remember }) {
      const record = wellFormedJson({ ...key, hash, previous: null } satisfies ApiKeyRecord);
      const args = [key.id, hash, record, remember?.fingerprint ?? '', remember?.answer ?? '', wellFormedJson(audit)];
      const reply = await createApiKey.run(redis, keysFor(remember), args);
      if (texts(reply, 'create-api-key')[0] === 'name_taken') return { kind: 'name_taken' };
      return savedOf(reply, 'create-api-key');
    },
    async rotate(id, { hash, graceMs }, { audit, remember }) {
      const args = [id, hash, graceMs, remember?.fingerprint ?? '', wellFormedJson(audit)];
      return savedOf(await rotateApiKey.run(redis, keysFor(remember), args), 'rotate-api-key');
    },
    async revoke(id, audit) {
      const reply = await revokeApiKey.run(redis, keysFor(undefined), [id, wellFormedJson(audit)]);
      return savedOf(reply, 'revoke-api-key');
    },
  };
}

function keysFor(remember: Remember | undefined): string[] {
  const scope = remember ? { idempotencyScope: remember.scope } : {};
  return [...towKeys('', scope), KEYS.apiKeys, KEYS.apiKeyHashes];
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
