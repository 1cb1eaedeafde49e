import { z } from 'zod';
import { apiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { api, newKey } from './client';
import { startEventStream } from './in-process';

const app = useApp({ role: 'console' });

const listed = z.object({ items: z.array(apiKeyView) });

// An open event stream: supertest resolves only when a response has ended.
const watch = (url: string, apiKey: string) =>
  fetch(`${url}/api/events`, { headers: { authorization: `Bearer ${apiKey}` } });

it('ends the event streams of a revoked API key and keeps those of other keys open', async () => {
  const apiKey = await newKey(app, 'viewer', 'wall screen');
  const stream = await startEventStream(app.foundation, { heartbeatMs: 50 });
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
