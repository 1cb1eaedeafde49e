import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { machineMs } from '../measure/resources';
import { serveCommands } from './protocol';
import { CALLS } from './tow';

/**
 * The parking service as the bench needs it: a process that answers the five calls of a tow with fixed answers, checks
 * their order per tow, and remembers when each came. It is the same for all contenders and costs far less than the
 * simulator.
 */

const command = z.discriminatedUnion('do', [
  z.object({ do: z.literal('listen'), latencyMs: z.number() }),
  z.object({ do: z.literal('reset') }),
  z.object({ do: z.literal('fail'), httpStatus: z.int().nullable() }),
  z.object({ do: z.literal('expect'), calls: z.int(), timeoutMs: z.number() }),
  z.object({ do: z.literal('read') }),
  z.object({ do: z.literal('times') }),
]);

const PREFIX = '/prefix';
const ORDER = new Map(CALLS.map(({ path }, place) => [`${PREFIX}${path}`, place]));
const FAILURE = JSON.stringify({ code: 503, message: 'Service Unavailable' });
const towingReference = z.object({ towing_reference_id: z.string() });

let latencyMs = 0;
let failsWith: number | null = null;
let calls: { ref: string; place: number; atMs: number }[] = [];
let nextPlace = new Map<string, number>();
let disorder = 0;
let failed = 0;
let waiting: (() => void)[] = [];

function answer(incoming: IncomingMessage, response: ServerResponse): void {
  let body = '';
  incoming.setEncoding('utf8');
  incoming.on('data', (chunk: string) => (body += chunk));
  incoming.on('end', () => {
    const atMs = machineMs();
    const text = answerTo(incoming.url ?? '', body, atMs);
    const send = () => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      response.writeHead(text === FAILURE ? (failsWith ?? 503) : 200, headers).end(text);
    };
    if (latencyMs > 0) setTimeout(send, latencyMs);
    else send();
  });
}

function answerTo(path: string, body: string, atMs: number): string {
  // Tokens are given out during an outage too: it is the calls that fail then.
  if (path === `${PREFIX}/auth/public/token`) return success({ token: 'bench-token' });
  if (failsWith !== null) {
    failed += 1;
    return FAILURE;
  }
  const place = ORDER.get(path);
  if (place === undefined) throw new Error(`the stub does not know ${path}`);
  const { towing_reference_id: ref } = towingReference.parse(JSON.parse(body));
  if ((nextPlace.get(ref) ?? 0) !== place) disorder += 1;
  nextPlace.set(ref, place + 1);
  calls.push({ ref, place, atMs });
  for (const wake of waiting) wake();
  const metadata = { id: ref.replace('TW-20261120', 'bench') };
  if (CALLS[place]?.method === 'PATCH') return success({ towing_reference_id: ref, metadata });
  const invoice = { total_amount: 230, paid_amount: 0, tax: 30 };
  return success({ towing_reference_id: ref, towing_invoice: invoice, delay_invoice: invoice, metadata });
}

function success(data: object): string {
  return JSON.stringify({ code: 200, message: 'Success', data });
}

function summary() {
  return {
    calls: calls.length,
    failed,
    disorder,
    firstAtMs: calls[0]?.atMs ?? null,
    lastAtMs: calls.at(-1)?.atMs ?? null,
  };
}

/** Resolves when this many calls were accepted, or after the timeout. */
async function untilCalls(wanted: number, timeoutMs: number): Promise<void> {
  const ending = new AbortController();
  const reached = new Promise<void>((resolve) => {
    const check = () => {
      if (calls.length >= wanted) resolve();
    };
    waiting.push(check);
    check();
  });
  await Promise.race([reached, pause(timeoutMs, undefined, { signal: ending.signal }).catch(() => {})]);
  ending.abort();
  waiting = [];
}

async function handle(received: unknown): Promise<unknown> {
  const wanted = command.parse(received);
  switch (wanted.do) {
    case 'listen':
      latencyMs = wanted.latencyMs;
      return { url: await listen() };
    case 'reset':
      calls = [];
      nextPlace = new Map();
      disorder = 0;
      failed = 0;
      return null;
    case 'fail':
      failsWith = wanted.httpStatus;
      return null;
    case 'expect':
      await untilCalls(wanted.calls, wanted.timeoutMs);
      return summary();
    case 'read':
      return summary();
    case 'times':
      return calls;
  }
}

function listen(): Promise<string> {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer);
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}${PREFIX}`);
    });
  });
}

serveCommands(handle);
