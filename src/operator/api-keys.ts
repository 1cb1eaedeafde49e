import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import type { ApiKey, ApiKeyStore } from '../workflow/ports';
import { effectOf, type Effect } from '../workflow/progress';
import { hashOf, newApiKey } from './authenticate';
import { answerText } from './idempotency';
import type { Server } from './serve';

const noSuchKey = { kind: 'refused', refusal: unknown('key_not_found', 'There is no such key.').refusal } as const;

/** API keys. A key is shown once; when its answer is given again under an Idempotency-Key, the key is left out. */
export function serveApiKeys(server: Server, tools: { keys: ApiKeyStore; clock: Clock }): void {
  const { keys, clock } = tools;
  server.read(ROUTES.listApiKeys, async () => ({ items: (await keys.list()).map(viewOf) }));
  server.change(ROUTES.createApiKey, ({ body, actor }) => {
    const apiKey = newApiKey();
    const key: ApiKey = { id: clock.id(), ...body, createdAt: new Date(clock.nowMs()).toISOString() };
    const audit = auditOf(actor, 'key.created', { on: { key_id: key.id }, what: { granted_role: key.role } });
    return {
      effect: async (remember): Promise<Effect> => {
        const answer = answerText(ROUTES.createApiKey.status, viewOf(key));
        const act = { audit, remember: remember && { ...remember, answer } };
        const effect = effectOf(await keys.create(key, hashOf(apiKey), act));
        return effect === 'stale' ? noSuchKey : effect;
      },
      answer: () => Promise.resolve(viewOf(key)),
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.revokeApiKey, ({ params, actor }) => {
    const id = params('key_id');
    return {
      effect: async (): Promise<Effect> => {
        const effect = effectOf(await keys.revoke(id, auditOf(actor, 'key.revoked', { on: { key_id: id } })));
        return effect === 'stale' || effect.kind === 'refused' ? noSuchKey : effect;
      },
      answer: () => Promise.resolve(null),
    };
  });
}

function viewOf(key: ApiKey) {
  return { id: key.id, name: key.name, role: key.role, created_at: key.createdAt };
}
