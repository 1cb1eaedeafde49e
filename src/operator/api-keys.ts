import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { conflict, unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import type { ApiKey, ApiKeyStore, ListedApiKey } from '../workflow/ports';
import { effectOf, type Effect } from '../workflow/effect';
import { BOOTSTRAP, hashOf, newApiKey } from './authenticate';
import type { Server } from './serve';

const noSuchKey = { kind: 'refused', refusal: unknown('key_not_found', 'There is no such key.').refusal } as const;
const nameTaken = {
  kind: 'refused',
  refusal: conflict('key_name_taken', 'Another key has this name; the audit tells keys apart by their names.').refusal,
} as const;

const HOUR_MS = 3_600_000;

/**
 * API keys. The text of a key is shown once; when its answer is given again under an Idempotency-Key, it is left out.
 * The configured key is none of these: it can be neither rotated nor revoked here.
 */
export function serveApiKeys(server: Server, tools: { keys: ApiKeyStore; clock: Clock }): void {
  const { keys, clock } = tools;
  server.read(ROUTES.listApiKeys, async () => ({ items: (await keys.list()).map(viewOf) }));
  server.change(ROUTES.createApiKey, ({ body, actor }) => {
    const apiKey = newApiKey();
    const key: ApiKey = { id: clock.id(), ...body, createdAt: new Date(clock.nowMs()).toISOString() };
    const view = viewOf({ ...key, previousValidUntil: null });
    const audit = auditOf(actor, 'key.created', { on: { key_id: key.id }, what: { granted_role: key.role } });
    return {
      effect: async (remember): Promise<Effect> => {
        if (key.name === BOOTSTRAP) return nameTaken;
        const act = { audit, remember: remember && { ...remember, answer: JSON.stringify(view) } };
        const saved = await keys.create(key, hashOf(apiKey), act);
        return saved.kind === 'name_taken' ? nameTaken : effectOnKey(saved);
      },
      answer: () => Promise.resolve(view),
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.rotateApiKey, ({ params, actor, body }) => {
    const id = params('key_id');
    const apiKey = newApiKey();
    return {
      effect: async (remember): Promise<Effect> => {
        const change = { hash: hashOf(apiKey), graceMs: Math.round(body.grace_hours * HOUR_MS) };
        const what = { grace_hours: body.grace_hours };
        const audit = auditOf(actor, 'key.rotated', { on: { key_id: id }, what });
        return effectOnKey(await keys.rotate(id, change, { audit, remember }));
      },
      answer: async () => {
        const key = await keys.read(id);
        if (!key) throw new Error('the key was revoked before its rotation could be answered');
        return viewOf(key);
      },
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.revokeApiKey, ({ params, actor }) => {
    const id = params('key_id');
    return {
      effect: async (): Promise<Effect> =>
        effectOnKey(await keys.revoke(id, auditOf(actor, 'key.revoked', { on: { key_id: id } }))),
      answer: () => Promise.resolve(null),
    };
  });
}

function effectOnKey(saved: Parameters<typeof effectOf>[0]): Effect {
  const effect = effectOf(saved);
  return effect === 'stale' || effect === null ? noSuchKey : effect;
}

function viewOf(key: ListedApiKey) {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    created_at: key.createdAt,
    previous_valid_until: key.previousValidUntil,
  };
}
