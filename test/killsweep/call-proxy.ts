import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Steps } from './steps';
import { portOf } from '../support/server-port';

/** Proxy between one worker and the service. Every call is a step: it reaches the service when the step is taken. */
export interface CallProxy {
  readonly url: string;
  close(): void;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export async function openCallProxy(serviceUrl: string, steps: Steps): Promise<CallProxy> {
  const server = createServer((incoming, response) => {
    pass(serviceUrl, [incoming, response], steps).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = portOf(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function pass(
  serviceUrl: string,
  [incoming, response]: readonly [IncomingMessage, ServerResponse],
  steps: Steps,
): Promise<void> {
  const { method = 'GET', url = '/' } = incoming;
  const body = await bytesOf(incoming);
  const step = { kind: 'service' as const, name: `${method} ${url.split('?')[0]}`, mayWrite: true };
  const answer = await steps.take(step, () => forward(serviceUrl, incoming, body));
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}

/** Rejects when the service breaks off. */
async function forward(serviceUrl: string, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  const { method, headers, url = '/' } = incoming;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const forwarded = request(new URL(url, serviceUrl), { method, headers }, resolve);
    forwarded.on('error', reject);
    forwarded.end(body);
  });
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await bytesOf(answer) };
}

async function bytesOf(message: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}
