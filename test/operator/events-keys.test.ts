import express from 'express';
import { z } from 'zod';
import { apiKeyView } from '../../src/contracts/operator';
import { createGuessing } from '../../src/operator/guessing';
import { createAuthenticator } from '../../src/operator/authenticate';
import { serveEvents } from '../../src/operator/events';
import { listen } from '../../src/platform/http';
import { createApiKeyStore } from '../../src/store/api-keys';
import { createWrongKeyStore } from '../../src/store/wrong-keys';
import { useApp } from '../support/app';
import { api, newKey } from './client';

const app = useApp({ role: 'console' });

const listed = z.object({ items: z.array(apiKeyView) });

/** Starts an event stream with a heartbeat that is short enough for a test. */
async function startStream() {
  const { redis, clock, log, metrics } = app.foundation;
  const guessing = createGuessing({ wrongKeys: createWrongKeyStore(redis), log, metrics });
  const authenticator = createAuthenticator({ keys: createApiKeyStore(redis), bootstrapApiKey: app.apiKey, guessing });
  const stream = express();
  const events = serveEvents(stream, authenticator, { clock, heartbeatMs: 50 });
  const ready = () => Promise.resolve({ ready: true, details: {} });
  const listener = await listen(stream, { ready }, { host: '127.0.0.1', port: 0 });
  return {
    url: listener.url,
    async stop() {
      events.close();
      await listener.stop(100);
    },
  };
}

// An open event stream: supertest resolves only when a response has ended.
const watch = (url: string, apiKey: string) =>
  fetch(`${url}/api/events`, { headers: { authorization: `Bearer ${apiKey}` } });

it('ends the event streams of a revoked API key and keeps those of other keys open', async () => {
  const apiKey = await newKey(app, 'viewer', 'wall screen');
  const stream = await startStream();
  try {
    const revoked = await watch(stream.url, apiKey);
    const other = await watch(stream.url, app.apiKey);
    const { items } = listed.parse((await api(app).get('/api/keys')).body);
    const id = items.find(({ name }) => name === 'wall screen')?.id ?? '';
    await api(app).delete(`/api/keys/${id}`).expect(204);

    expect(await revoked.text()).toContain('still here');
    const reader = other.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
  } finally {
    await stream.stop();
  }
});
