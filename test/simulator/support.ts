import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../src/contracts/operations';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startSimulator, type SimulatorOptions } from '../../src/simulator';
import { formOf, textsOf } from './requests';

/** What a test started and `afterEach` has to end. */
const cleanups: (() => Promise<void>)[] = [];

/** Ends everything the test started, newest first. */
export async function endAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** Waits for a fact, at most 10 s. */
export async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  const deadlineMs = systemClock.monotonicMs() + 10_000;
  while (!(await fact())) {
    if (systemClock.monotonicMs() > deadlineMs) throw new Error(`never became true: ${String(fact)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A text that matches, wherever an expectation holds a value. */
export function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}

export interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** An operator's webhook receiver: keeps what was posted and answers the given statuses in turn, then 200. */
export async function startOperator(statuses: (number | 'hold')[] = []) {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
      const status = statuses.shift() ?? 200;
      posted.push({ path: request.url ?? '', headers: request.headers, text, body });
      if (status === 'hold') return;
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {});
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const received = async (count: number) => {
    await until(() => posted.length >= count);
    return posted;
  };
  return { url: `http://127.0.0.1:${address.port}`, posted, received };
}

const call = z.object({
  at: z.iso.datetime(),
  operation: z.string(),
  method: z.string(),
  path: z.string(),
  headers: z.record(z.string(), z.unknown()),
  body: z.unknown(),
  status: z.number().nullable(),
  effect: z.boolean(),
  fault: z.string().nullable(),
});
const attempt = z.object({
  at: z.iso.datetime(),
  kind: z.enum(['tow_request', 'tow_invoice']),
  towing_reference_id: z.string(),
  webhook_id: z.string(),
  status: z.number().nullable(),
  attempt: z.number(),
  body: z.record(z.string(), z.unknown()),
  fault: z.string().nullable(),
});
const order = z.object({
  violation_reference_id: z.string(),
  towing_reference_id: z.string(),
  metadata: z.record(z.string(), z.unknown()),
});
const world = z.object({
  counts: z.record(z.string(), z.number()),
  tows: z.array(
    order.extend({ statuses: z.array(z.string()), invoices: z.number(), payment_status: z.string().nullable() }),
  ),
});

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: unknown;
}

/** A simulator on a free port with a client for its two faces. Without an operator its webhooks find nobody. */
export async function simulate(options: Partial<SimulatorOptions> = {}) {
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    log: silentLog,
    webhookUrl: 'http://127.0.0.1:1',
    ...options,
  });
  cleanups.push(() => simulator.stop(0));

  const fetched = async (url: string, init: RequestInit): Promise<Answered> => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    const json: unknown = isJson ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, text, json };
  };
  const control = (method: string, path: string, body?: unknown) =>
    fetched(`${simulator.url}/simulator${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });

  const token = async (clientId = 'towhook-test', clientSecret = 'secret-of-the-test') => {
    const headers = { 'x-client-id': clientId, 'x-client-secret': clientSecret };
    const answer = await fetched(`${simulator.url}${OPERATIONS.token.path}`, { method: 'POST', headers });
    return z.object({ data: z.object({ token: z.string() }) }).parse(answer.json).data.token;
  };

  /** Calls an operation as its table says, by default with a fresh token. */
  const operate = async (
    name: OperationName,
    request: Readonly<Record<string, unknown>> | FormData | string,
    { bearer, prefix = '' }: { bearer?: string | null; prefix?: string } = {},
  ): Promise<Answered> => {
    const { method, path, encoding } = OPERATIONS[name];
    const url = `${simulator.url}${prefix}${path}`;
    const isAnonymous = bearer === null || encoding === 'credentials';
    const headers = isAnonymous ? {} : { authorization: `Bearer ${bearer ?? (await token())}` };
    if (encoding === 'query' && typeof request === 'object' && !(request instanceof FormData)) {
      return fetched(`${url}?${new URLSearchParams(textsOf(request)).toString()}`, { method, headers });
    }
    if (encoding === 'credentials' && typeof request === 'object' && !(request instanceof FormData)) {
      return fetched(url, { method, headers: textsOf(request) });
    }
    if (encoding === 'form' && typeof request === 'object') {
      return fetched(url, { method, headers, body: request instanceof FormData ? request : formOf(request) });
    }
    const body = typeof request === 'string' ? request : JSON.stringify(request);
    return fetched(url, { method, headers: { ...headers, 'content-type': 'application/json' }, body });
  };

  return {
    url: simulator.url,
    stop: (graceMs: number) => simulator.stop(graceMs),
    control,
    token,
    operate,
    orderTow: async (body: object = {}) => {
      const answer = await control('POST', '/tow-requests', { send: false, ...body });
      const [tow] = z.object({ items: z.array(order).min(1) }).parse(answer.json).items;
      if (!tow) throw new Error('no tow ordered');
      return tow;
    },
    orderTows: async (body: object) =>
      z.object({ items: z.array(order) }).parse((await control('POST', '/tow-requests', body)).json).items,
    faults: async (...rules: object[]) => {
      const answer = await control('PUT', '/faults', rules);
      if (answer.status !== 200) throw new Error(answer.text);
    },
    calls: async (query = '') =>
      z.object({ items: z.array(call) }).parse((await control('GET', `/calls${query}`)).json).items,
    attempts: async () => z.object({ items: z.array(attempt) }).parse((await control('GET', '/webhooks')).json).items,
    world: async () => world.parse((await control('GET', '/world')).json),
  };
}

export type Simulated = Awaited<ReturnType<typeof simulate>>;
export type Ordered = Awaited<ReturnType<Simulated['orderTow']>>;
