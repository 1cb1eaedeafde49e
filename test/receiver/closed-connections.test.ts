import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliver, deliveriesIn, towRequest } from './calls';

/** Senders that close their connection before they are answered. */

const app = useApp({ role: 'receiver', ownRedis: true });

/** Sends the head of a webhook with a declared length, and the given part of its body. */
async function begin(body: string, sent: string): Promise<Socket> {
  const { hostname, port } = new URL(app.receiverUrl);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  const headers = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  await new Promise((resolve) => socket.write(`POST /tow-request HTTP/1.1\r\n${headers}\r\n\r\n${sent}`, resolve));
  return socket;
}

/** How many calls were answered so far, and how many of them were unreadable. */
async function answers(): Promise<{ all: number; unreadable: number }> {
  const { text } = await app.foundation.metrics.text();
  const lines = [...text.matchAll(/^towhook_webhook_answers_total\{.*outcome="(\w+)".*\} (\d+)$/gm)];
  const sum = (of: typeof lines) => of.reduce((total, [, , count]) => total + Number(count), 0);
  return { all: sum(lines), unreadable: sum(lines.filter(([, outcome]) => outcome === 'unreadable')) };
}

it('counts a webhook whose sender leaves before the end of the body as unreadable and stores nothing', async () => {
  const before = await answers();
  const body = JSON.stringify(towRequest());
  const socket = await begin(body, body.slice(0, 20));

  socket.destroy();

  const expected = { all: before.all + 1, unreadable: before.unreadable + 1 };
  await eventually(async () => expect(await answers()).toEqual(expected));
  expect(await deliveriesIn(app.foundation)).toEqual([]);
});

it('answers a webhook once when its sender leaves while Redis stores it', async () => {
  const before = await answers();
  const body = JSON.stringify(towRequest());
  app.redis.freeze();
  const socket = await begin(body, body);

  socket.destroy();

  await eventually(async () => expect((await answers()).all).toBeGreaterThan(before.all));
  app.redis.thaw();
  await eventually(() => deliver(app.receiverUrl, '/tow-request', towRequest()).expect(200));
  expect((await answers()).unreadable).toBe(before.unreadable);
});

it('accepts a webhook whose body arrives in several parts', async () => {
  const body = JSON.stringify(towRequest({ metadata: { id: 'حي العليا' } }));
  const bytes = Buffer.from(body);
  const socket = await begin(body, '');
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));

  // In the middle of a character.
  const middle = bytes.indexOf('ح') + 1;
  await new Promise((resolve) => socket.write(bytes.subarray(0, middle), resolve));
  await eventually(async () => expect((await fetch(`${app.receiverUrl}/healthz`)).status).toBe(200));
  socket.write(bytes.subarray(middle));

  await eventually(() => expect(answer).toContain('HTTP/1.1 200 OK'));
  socket.destroy();
  expect(await deliveriesIn(app.foundation)).toMatchObject([{ rawBody: body }]);
});
