import { ROUTES } from '../contracts/operator-routes';
import { unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import type { ApiKey, ApiKeyStore, Remember } from '../workflow/ports';
import { effectOf, type Effect } from '../workflow/progress';
import { hashOf, newApiKey } from './authenticate';
import type { Server } from './serve';

const noSuchKey = { kind: 'refused', refusal: unknown('key_not_found', 'There is no such key.').refusal } as const;

/** API keys. A key is shown once; when its answer is given again under an Idempotency-Key, the key is left out. */
export function serveApiKeys(server: Server, tools: { keys: ApiKeyStore; clock: Clock }): void {
  const { keys, clock } = tools;
  server.read(ROUTES.listApiKeys, async () => ({ items: (await keys.list()).map(viewOf) }));
  server.change(ROUTES.createApiKey, ({ body }) => {
    const apiKey = newApiKey();
    const freshId = clock.id();
    // Under one Idempotency-Key everybody speaks of the same key, also after a crash between effect and answer.
    const idOf = (remember: Remember | undefined) => (remember ? remember.scope.slice(0, 32) : freshId);
    return {
      effect: async (remember): Promise<Effect> => {
        const key: ApiKey = { id: idOf(remember), ...body, createdAt: new Date(clock.nowMs()).toISOString() };
        const effect = effectOf(await keys.create(key, hashOf(apiKey), remember));
        return effect === 'stale' ? noSuchKey : effect;
      },
      answer: async (remember) => {
        const made = (await keys.list()).find(({ id }) => id === idOf(remember));
        return made ? viewOf(made) : { id: idOf(remember), ...body };
      },
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.revokeApiKey, ({ params }) => ({
    effect: async (): Promise<Effect> => ((await keys.revoke(params('key_id'))) ? { kind: 'done' } : noSuchKey),
    answer: () => Promise.resolve(null),
  }));
}

function viewOf(key: ApiKey) {
  return { id: key.id, name: key.name, role: key.role, created_at: key.createdAt };
}
