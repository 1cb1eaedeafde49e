import { once } from 'node:events';
import { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { z } from 'zod';
import { apiKeyView } from '../../src/contracts/operator';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, newKey } from './client';
import { CHANGE, startEventStream } from './in-process';

const app = useApp({ role: 'console' });

const listed = z.object({ items: z.array(apiKeyView) });

// An open event stream: supertest resolves only when a response has ended.
const watch = (url: string, apiKey: string) =>
  fetch(`${url}/api/events`, { headers: { authorization: `Bearer ${apiKey}` } });

/** Opens an event stream and never reads from it. */
async function watchWithoutReading(url: string, apiKey: string): Promise<{ socket: Socket; ended: Promise<unknown> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const ended = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  socket.write(`GET /api/events HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${apiKey}\r\n\r\n`);
  await once(socket, 'data');
  socket.pause();
  return { socket, ended };
}

it('disconnects a stream of a revoked API key whose client reads nothing, and serves the others', async () => {
  const apiKey = await newKey(app, 'viewer', 'frozen screen');
  const stream = await startEventStream(app.foundation, { heartbeatMs: 50 });
  const change = (id: string) => stream.publish({ ...CHANGE, subject: { kind: 'tow', id } });
  let read: Promise<string> | undefined;
  try {
    const { socket, ended } = await watchWithoutReading(stream.url, apiKey);
    // More than the buffers of the system hold, and less than the stream disconnects a slow client for.
    const written = jest.spyOn(ServerResponse.prototype, 'write');
    while (!written.mock.contexts.some(({ writableLength }) => writableLength > 0)) {
      written.mockClear();
      change('TW-1'.padEnd(100_000, '-'));
      await new Promise((resolve) => setImmediate(resolve));
    }
    read = (await watch(stream.url, app.apiKey)).text();
    const { items } = listed.parse((await api(app).get('/api/keys')).body);
    await api(app)
      .delete(`/api/keys/${items.find(({ name }) => name === 'frozen screen')?.id ?? ''}`)
      .expect(204);
    await eventually(() => expect(written.mock.contexts.some(({ destroyed }) => destroyed)).toBe(true));

    change('TW-last');
    socket.resume();
    await ended;
  } finally {
    await stream.stop();
  }
  expect(await read).toContain('TW-last');
});

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
