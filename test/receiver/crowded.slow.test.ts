import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../support/eventually';
import { startProcess } from '../support/process';
import { useRedis } from '../support/redis';
import { newSecret, signed, towRequest } from './calls';

/** One source opens as many connections as a listener takes. */

const redis = useRedis();
const [CROWDING, OTHER] = ['127.0.0.1', '127.0.0.2'];
const CONNECTIONS = 2000;
const WEBHOOKS = 30;

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Opens a connection, which has one answer and stays open. */
async function openIdle(url: URL): Promise<void> {
  const socket = connect({ host: url.hostname, port: Number(url.port), localAddress: CROWDING });
  sockets.push(socket);
  await new Promise<void>((resolve) => {
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.on('data', () => resolve());
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
  });
}

function call(url: string, localAddress: string, body = '', headers: Readonly<Record<string, string>> = {}) {
  const agent = new Agent({ keepAlive: false });
  const method = body === '' ? 'GET' : 'POST';
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const outgoing = httpRequest(url, { method, agent, localAddress, headers }, (response) => {
      text(response).then((read) => resolve({ status: response.statusCode ?? 0, body: read }), reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

test('a receiver takes webhooks, and answers health, while one source holds 2,000 idle connections', async () => {
  const secret = newSecret();
  const receiver = await startProcess('receiver', { REDIS_URL: redis.url, WEBHOOK_SECRETS: secret });
  const url = await receiver.url('receiver');
  for (let opened = 0; opened < CONNECTIONS; opened += 100) {
    await Promise.all(Array.from({ length: 100 }, () => openIdle(new URL(url))));
  }
  const statuses: number[] = [];
  for (let index = 0; index < WEBHOOKS; index += 1) {
    const body = JSON.stringify(towRequest({ towing_reference_id: `TW-${index}` }));
    const headers: Record<string, string> = { 'content-type': 'application/json', ...signed(body, { secret }) };
    statuses.push((await call(`${url}/tow-request`, OTHER, body, headers)).status);
  }
  expect(statuses).toEqual(Array.from({ length: WEBHOOKS }, () => 200));
  for (const from of [OTHER, CROWDING]) expect((await call(`${url}/healthz`, from)).status).toBe(200);

  const { body: metrics } = await call(`${await receiver.url('ops')}/metrics`, OTHER);
  const closed = Number(
    /^towhook_connections_closed_total\{listener="receiver",reason="idle",installation="main"\} (\d+)$/m.exec(
      metrics,
    )?.[1],
  );
  expect(closed).toBeGreaterThanOrEqual(CONNECTIONS - 500);
  const lines = receiver.log.filter(({ message }) => message === 'listener.crowded');
  expect(lines.length).toBeLessThan(10);
  expect(lines[0]).toMatchObject({ level: 'warn', listener: 'receiver', reason: 'idle', source: CROWDING });
  // With its next heartbeat, the process has the alarm.
  await eventually(async () => {
    const { body } = await call(`${await receiver.url('ops')}/metrics`, OTHER);
    expect(body).toContain('towhook_processes{role="receiver",state="not_ready",installation="main"} 1');
  }, 20_000);
});
