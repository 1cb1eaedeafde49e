import { createServer, type ServerResponse } from 'node:http';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { serveCommands } from './protocol';

/** Contender (b): node:http, `JSON.parse` and one XADD per webhook. About the least that a durable receiver can do. */

const command = z.object({ do: z.literal('receive'), redisUrl: z.string() });

async function handle(received: unknown): Promise<unknown> {
  const redis = new Redis(command.parse(received).redisUrl);
  const store = async (body: string, response: ServerResponse) => {
    await redis.xadd('webhooks', '*', 'body', body);
    const text = '{"code":"accepted"}';
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
  };
  const server = createServer((incoming, response) => {
    let body = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      JSON.parse(body);
      void store(body, response);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}` });
    });
  });
}

serveCommands(handle);
