import type { Redis } from 'ioredis';
import { apiKeyRecord } from '../contracts/records';
import type { ApiKey, ApiKeyStore } from '../workflow/ports';
import { KEYS, towKeys } from './keys';
import { savedOf } from './saved';
import { Script } from './scripts';
import { wellFormedJson } from './well-formed';

const createApiKey = new Script('create-api-key');
const revokeApiKey = new Script('revoke-api-key');

/** API keys by the hash of the key; the key itself is shown once, when it is made, and stored nowhere. */
export function createApiKeyStore(redis: Redis): ApiKeyStore {
  const read = async (id: string) => {
    const json = await redis.hget(KEYS.apiKeys, id);
    return json === null ? null : apiKeyRecord.parse(JSON.parse(json));
  };
  return {
    async findByHash(hash) {
      const id = await redis.hget(KEYS.apiKeyHashes, hash);
      return id === null ? null : withoutHash(await read(id));
    },
    async list() {
      const all = await redis.hvals(KEYS.apiKeys);
      return all
        .map((json) => withoutHash(apiKeyRecord.parse(JSON.parse(json))))
        .filter((key) => key !== null)
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt));
    },
    async create(key, hash, { audit, remember }) {
      const scope = remember ? { idempotencyScope: remember.scope } : {};
      const keys = [...towKeys('', scope), KEYS.apiKeys, KEYS.apiKeyHashes];
      const args = [
        key.id,
        hash,
        wellFormedJson({ ...key, hash }),
        remember?.fingerprint ?? '',
        remember?.answer ?? '',
        wellFormedJson(audit),
      ];
      return savedOf(await createApiKey.run(redis, keys, args), 'create-api-key');
    },
    async revoke(id, audit) {
      const keys = [...towKeys(''), KEYS.apiKeys, KEYS.apiKeyHashes];
      return savedOf(await revokeApiKey.run(redis, keys, [id, wellFormedJson(audit)]), 'revoke-api-key');
    },
  };
}

function withoutHash(stored: (ApiKey & { hash: string }) | null): ApiKey | null {
  if (!stored) return null;
  const { hash: _hash, ...key } = stored;
  return key;
}
