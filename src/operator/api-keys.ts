import { ROUTES } from '../contracts/operator-routes';
import { auditOf } from '../domain/audit';
import { conflict, unknown } from '../domain/refusal';
import type { Clock } from '../platform/clock';
import type { ApiKey, ApiKeyStore, ListedApiKey } from '../workflow/ports';
import { done, effectOf, refused, type Effect } from '../workflow/effect';
import { BOOTSTRAP, hashOf, newApiKey } from './authenticate';
import type { Server } from './serve';

const noSuchKey = unknown('key_not_found', 'There is no such key.').refusal;
const nameTaken = conflict(
  'key_name_taken',
  'Another key has this name; the audit tells keys apart by their names.',
).refusal;

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
      effect: async (remember): Promise<Effect<object>> => {
        if (key.name === BOOTSTRAP) return refused(nameTaken);
        const act = { audit, remember: remember && { ...remember, answer: JSON.stringify(view) } };
        const saved = await keys.create(key, hashOf(apiKey), act);
        if (saved.kind === 'name_taken') return refused(nameTaken);
        const effect = effectOf(saved, noSuchKey);
        return effect.kind === 'done' ? done(view) : effect;
      },
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
        return effectOf(await keys.rotate(id, change, { audit, remember }), noSuchKey);
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
        effectOf(await keys.revoke(id, auditOf(actor, 'key.revoked', { on: { key_id: id } })), noSuchKey),
    };
  });
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
