import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../src/contracts/service/operations';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { startSimulator, type SimulatorOptions } from '../../src/simulator';
import { eventually } from '../support/eventually';
import { textsOf } from './requests';

/** Stops what a test started. `afterEach` must run them through `endAll`. */
const cleanups: (() => Promise<void>)[] = [];

/** Stops everything the test started, newest first. */
export async function endAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** An asymmetric matcher for strings that match the pattern, typed for use in any expected value. */
export function matching(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}

/** An image that is attached to a form. */
export interface Image {
  readonly name: string;
  readonly content: Buffer;
}

/** A webhook that the operator received. */
export interface PostedWebhook {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** An operator's webhook receiver: records each webhook and answers with the given statuses in turn, then with 200. */
export async function startOperator(statuses: (number | 'hold')[] = []) {
  const posted: PostedWebhook[] = [];
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const body = z.record(z.string(), z.unknown()).parse(JSON.parse(text.replace(/^\uFEFF/, '')));
      const status = statuses.shift() ?? 200;
      posted.push({ path: incoming.url ?? '', headers: incoming.headers, text, body });
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
    await eventually(() => expect(posted.length).toBeGreaterThanOrEqual(count));
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
  kind: z.enum(['tow_request', 'tow_invoice', 'other']),
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

export interface OperateOptions {
  /** Null sends no Authorization header. A fresh token by default. */
  readonly bearer?: string | null;
  readonly prefix?: string;
  /** In place of the documented path. */
  readonly path?: string;
  /** The images of a form. */
  readonly images?: readonly Image[];
}

/** A supertest response whose body has to be parsed or compared. */
export type OperationResponse = Omit<request.Response, 'body'> & { readonly body: unknown };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
const VERBS = { GET: 'get', POST: 'post', PUT: 'put', PATCH: 'patch', DELETE: 'delete' } as const;

/**
 * A simulator on a free port, with supertest requests to its service API and its control API. Its webhooks fail unless
 * `webhookUrl` is given.
 */
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
  const http = request(simulator.url);

  /** A request to the control API. An object is sent as JSON; an absent body sends none. */
  const control = (method: Method, path: string, body?: object): request.Test => {
    const sent = http[VERBS[method]](`/simulator${path}`);
    return body === undefined ? sent : sent.send(body);
  };

  const token = async (clientId = 'towhook-test', clientSecret = 'secret-of-the-test') => {
    const headers = { 'x-client-id': clientId, 'x-client-secret': clientSecret };
    const response = await http.post(OPERATIONS.token.path).set(headers);
    return z.object({ data: z.object({ token: z.string() }) }).parse(response.body).data.token;
  };

  /** Calls an operation of the service as `OPERATIONS` describes it. A string is sent unchanged as the JSON body. */
  const operate = async (
    name: OperationName,
    fields: Readonly<Record<string, unknown>> | string,
    { bearer, prefix = '', path: wanted, images = [] }: OperateOptions = {},
  ): Promise<OperationResponse> => {
    const { method, path, encoding } = OPERATIONS[name];
    const sent = http[VERBS[method]](`${prefix}${wanted ?? path}`);
    if (bearer !== null && encoding !== 'credentials') {
      sent.set('authorization', `Bearer ${bearer ?? (await token())}`);
    }
    if (typeof fields === 'string') return sent.type('application/json').send(fields);
    switch (encoding) {
      case 'json':
        return sent.send(fields);
      case 'query':
        return sent.query(textsOf(fields));
      case 'credentials':
        return sent.set(textsOf(fields));
      case 'form':
        for (const [field, text] of Object.entries(textsOf(fields))) sent.field(field, text);
        for (const { name: filename, content } of images) sent.attach('images', content, filename);
        return sent;
    }
  };

  return {
    url: simulator.url,
    stop: (graceMs: number) => simulator.stop(graceMs),
    control,
    token,
    operate,
    orderTow: async (body: object = {}) => {
      const response = await control('POST', '/tow-requests', { send: false, ...body });
      const [tow] = z.object({ items: z.array(order).min(1) }).parse(response.body).items;
      if (!tow) throw new Error('no tow ordered');
      return tow;
    },
    orderTows: async (body: object) =>
      z.object({ items: z.array(order) }).parse((await control('POST', '/tow-requests', body)).body).items,
    faults: async (...rules: object[]) => {
      await control('PUT', '/faults', rules).expect(200);
    },
    calls: async (query = '') =>
      z.object({ items: z.array(call) }).parse((await control('GET', `/calls${query}`)).body).items,
    attempts: async () => z.object({ items: z.array(attempt) }).parse((await control('GET', '/webhooks')).body).items,
    world: async () => world.parse((await control('GET', '/world')).body),
  };
}

export type TestSimulator = Awaited<ReturnType<typeof simulate>>;
export type Ordered = Awaited<ReturnType<TestSimulator['orderTow']>>;
