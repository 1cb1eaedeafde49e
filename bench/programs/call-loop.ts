import { Agent, request } from 'node:http';
import { z } from 'zod';
import { serveCommands } from './protocol';
import { CALLS, towNames } from './tow';

/**
 * Contender (c): the five calls of every tow over keep-alive connections and nothing else: no queue, no record. It is
 * the limit that the transport sets.
 */

const command = z.object({
  do: z.literal('loop'),
  serviceUrl: z.string(),
  tows: z.int(),
  prefix: z.string(),
  concurrency: z.int(),
});

async function handle(received: unknown): Promise<unknown> {
  const { serviceUrl, tows, prefix, concurrency } = command.parse(received);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  let next = 0;
  const lane = async () => {
    while (next < tows) {
      const names = towNames(prefix, next);
      next += 1;
      for (const { method, path, body } of CALLS) {
        await call(`${serviceUrl}${path}`, { agent, method, body: JSON.stringify(body(names)) });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  agent.destroy();
  return null;
}

function call(url: string, { agent, method, body }: { agent: Agent; method: string; body: string }): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    authorization: 'Bearer bench-token',
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => (text += chunk));
      answer.on('end', () => {
        JSON.parse(text);
        resolve();
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

serveCommands(handle);
