import { ROUTES } from '../../contracts/operator-routes';
import { auditOf } from '../../domain/ops/audit';
import { HOUR_MS, isoTimestamp } from '../../domain/timestamp';
import { refused, type ActionResult } from '../../workflow/action-result';
import { KEY_NAME_TAKEN } from '../../workflow/identity-port';
import type { ApiKey, ListedApiKey } from '../../workflow/ports';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import { BOOTSTRAP, keyHashOf, newApiKey } from '../authenticate';

/**
 * API keys. The secret of a key is in the first answer only; the answer to a repeated Idempotency-Key leaves it out. The key
 * of the configuration is not among them and can be neither rotated nor revoked here.
 */
export function serveApiKeys(server: ApiServer, tools: OperatorTools): void {
  const { keys, clock } = tools;
  server.read(ROUTES.listApiKeys, async () => ({ items: (await keys.list()).map(viewOf) }));
  server.change(ROUTES.createApiKey, ({ body, actor }) => {
    const apiKey = newApiKey();
    const key: ApiKey = { id: clock.id(), ...body, createdAt: isoTimestamp(clock.nowMs()) };
    const view = viewOf({ ...key, previousValidUntil: null });
    const audit = auditOf(actor, 'key.created', { on: { key_id: key.id }, what: { granted_role: key.role } });
    return {
      effect: async (idempotency): Promise<ActionResult<object>> => {
        if (key.name === BOOTSTRAP) return refused(KEY_NAME_TAKEN);
        return keys.create(key, keyHashOf(apiKey), { audit, idempotency, answer: view });
      },
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.rotateApiKey, ({ params, actor, body }) => {
    const id = params('key_id');
    const apiKey = newApiKey();
    return {
      effect: async (idempotency): Promise<ActionResult> => {
        const change = { hash: keyHashOf(apiKey), graceMs: Math.round(body.grace_hours * HOUR_MS) };
        const what = { grace_hours: body.grace_hours };
        const audit = auditOf(actor, 'key.rotated', { on: { key_id: id }, what });
        return keys.rotate(id, change, { audit, idempotency });
      },
      answer: async () => {
        const key = await keys.read(id);
        if (!key) throw new Error('the key was revoked before its rotation was answered');
        return viewOf(key);
      },
      secrets: { api_key: apiKey },
    };
  });
  server.change(ROUTES.revokeApiKey, ({ params, actor }) => {
    const id = params('key_id');
    return {
      effect: () => keys.revoke(id, auditOf(actor, 'key.revoked', { on: { key_id: id } })),
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
