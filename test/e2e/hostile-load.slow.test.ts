import { z } from 'zod';
import { newApiKeyView } from '../../src/contracts/operator';
import { startProcessMeter, type ProcessMeter } from '../fuzz/measure-process';
import { createFuzzHttpClient, type FuzzRequest, type FuzzResponse, type FuzzHttpClient } from '../fuzz/http-client';
import { eventually } from '../support/eventually';
import { startProcess } from '../support/process';
import { useRedis } from '../support/redis';

jest.setTimeout(240_000);
const redis = useRedis();

const API_KEY = 'bootstrap-key-of-the-hostile-load';
const MIB = 1024 * 1024;
/** A slow, busy machine answers in 100 to 200 ms. Without the limits for bodies it took 4 to 9 s. */
const LATE_MS = 300;
const REDIS_GROWS_BYTES_MAX = 1_000_000;
/** A product that is blocked is blocked each time; a busy machine is not. */
const ATTEMPTS = 6;

/** The start of a tow request that keeps its contract so far. */
const REFERENCES = '{"violation_reference_id":"V-20261120-K7P2QX","towing_reference_id":"TW-20261120-9F4D1A"';

/** A body of 1 MB with nested lists, each around a number that is too large for JSON. */
function deepBody(): Buffer {
  const value = `${'['.repeat(98)}1e999${']'.repeat(98)}`;
  const members: string[] = [REFERENCES];
  for (let bytes = REFERENCES.length; bytes < MIB - 300; bytes += value.length + 9) {
    members.push(`"k${String(members.length).padStart(4, '0')}":${value}`);
  }
  return Buffer.from(`${members.join(',')}}`);
}

/** A body below 1 MiB in which 78,000 fields break the contract. */
function brokenBody(): Buffer {
  const fields = Array.from({ length: 78_000 }, (_, index) => `"${index.toString(36)}":1e999`);
  return Buffer.from(`${REFERENCES},${fields.join(',')}}`);
}

interface Product {
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  readonly watch: ProcessMeter;
}

async function startProduct(environment: Record<string, string>): Promise<Product> {
  const watch = await startProcessMeter();
  const product = await startProcess('all', {
    ...watch.environment,
    REDIS_URL: redis.url,
    SERVICE_BASE_URL: 'http://127.0.0.1:1',
    SERVICE_CLIENT_ID: 'client',
    SERVICE_CLIENT_SECRET: 'secret',
    BOOTSTRAP_API_KEY: API_KEY,
    ...environment,
  });
  await product.logged('process.started');
  return { receiverUrl: await product.url('receiver'), consoleUrl: await product.url('console'), watch };
}

const get = (path: string, apiKey?: string): FuzzRequest => ({
  method: 'GET',
  path,
  headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
  body: Buffer.alloc(0),
});
const webhook = (body: Buffer): FuzzRequest => ({
  method: 'POST',
  path: '/tow-request',
  headers: { 'content-type': 'application/json' },
  body,
});

async function statusOf(response: Promise<FuzzResponse | string>): Promise<number | string> {
  const result = await response;
  return typeof result === 'string' ? result : result.status;
}

async function newKey({ consoleUrl }: Product, wire: FuzzHttpClient, name: string): Promise<string> {
  const json = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
  const headers = { ...json, 'idempotency-key': name };
  const body = Buffer.from(JSON.stringify({ name, role: 'viewer' }));
  // On a busy machine Redis may answer too late; the key is then made by a repeated request.
  return eventually(async () => {
    const response = await wire.send(consoleUrl, { method: 'POST', path: '/api/keys', headers, body });
    if (typeof response === 'string' || response.status !== 201) throw new Error(JSON.stringify(response));
    return newApiKeyView.parse(JSON.parse(response.text)).api_key;
  });
}

/** Bytes of all keys in Redis, exact to the byte. */
async function bytesInRedis(): Promise<number> {
  const keys = z.array(z.string()).parse(await redis.ask('KEYS', '*'));
  let sum = 0;
  for (const key of keys) sum += Number((await redis.ask('MEMORY', 'USAGE', key, 'SAMPLES', '0')) ?? 0);
  return sum;
}

/** Repeats GET /healthz until it is stopped; resolves with the longest time that an answer took. */
function watchHealth(baseUrl: string): { stop(): Promise<{ answers: number; longestMs: number }> } {
  const wire = createFuzzHttpClient();
  const stopped = new AbortController();
  const looking = (async () => {
    let [answers, longestMs] = [0, 0];
    while (!stopped.signal.aborted) {
      const startedMs = performance.now();
      const status = await statusOf(wire.send(baseUrl, get('/healthz')));
      longestMs = Math.max(longestMs, performance.now() - startedMs);
      if (status !== 200) throw new Error(`/healthz answered ${status}`);
      answers += 1;
    }
    wire.close();
    return { answers, longestMs };
  })();
  return {
    stop: () => {
      stopped.abort();
      return looking;
    },
  };
}

/** Everything at once; the key that was never used before is tried when all wrong keys have been answered. */
async function attack(product: Product, wire: FuzzHttpClient, bodies: readonly Buffer[], unusedKey: string) {
  const { receiverUrl, consoleUrl } = product;
  const times = (count: number, baseUrl: string, callOf: (index: number) => FuzzRequest) =>
    Promise.all(Array.from({ length: count }, (_, index) => statusOf(wire.send(baseUrl, callOf(index)))));
  const webhooks = Promise.all(bodies.map((body) => statusOf(wire.send(receiverUrl, webhook(body)))));
  const ready = times(50, receiverUrl, () => get('/readyz'));
  const openApi = times(20, consoleUrl, () => get('/openapi.json', API_KEY));
  const wrong = times(25, consoleUrl, (index) => get('/api/tows', `thk_wrong_${index}`));
  const unused = wrong.then(() => statusOf(wire.send(consoleUrl, get('/api/tows', unusedKey))));
  return {
    webhooks: await webhooks,
    ready: [...new Set(await ready)],
    openApi: [...new Set(await openApi)],
    wrong: (await wrong).filter((status) => status !== 401 && status !== 429),
    unused: await unused,
  };
}

describe.each([
  ['the default limit for bodies', {}, { deep: 413, broken: 413 }],
  // A body that breaks the contract but names a tow is stored whole.
  ['a limit of 1 MiB for bodies', { WEBHOOK_BODY_LIMIT_BYTES: String(MIB) }, { deep: 400, broken: 200 }],
])('one process under hostile load, with %s', (_limit, environment, { deep, broken }) => {
  let product: Product;
  let wire: FuzzHttpClient;
  const bodies = [deepBody(), brokenBody()];

  beforeEach(async () => {
    wire = createFuzzHttpClient(150);
    product = await startProduct(environment);
  });
  afterEach(() => {
    wire.close();
    product.watch.stop();
  });

  test('a process under hostile load answers /healthz within 300 ms, accepts a new API key and grows Redis by less than 1 MB beside the stored body', async () => {
    const late: number[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const unusedKey = await newKey(product, wire, `unused ${attempt}`);
      const bytesBefore = await bytesInRedis();
      await product.watch.look();
      const health = watchHealth(product.receiverUrl);

      const answers = await attack(product, wire, bodies, unusedKey);

      const { longestMs } = await health.stop();
      const { blockedMs } = await product.watch.look();
      const storedBytes = broken === 200 ? MIB : 0;
      const grownBytes = (await bytesInRedis()) - bytesBefore - storedBytes;
      // On a busy machine Redis may answer too late; the last attempt must do without that.
      const statuses = [...answers.webhooks, ...answers.ready, ...answers.wrong, answers.unused];
      if (statuses.includes(503) && attempt < ATTEMPTS - 1) continue;
      // A late answer of a process that was not running itself is the machine's, and not the product's.
      late.push(Math.round(Math.min(longestMs, blockedMs)));
      expect({ ...answers, redisGrew: grownBytes < REDIS_GROWS_BYTES_MAX ? 'less than 1 MB' : grownBytes }).toEqual({
        webhooks: [deep, broken],
        ready: [200],
        openApi: [200],
        unused: 200,
        wrong: [],
        redisGrew: 'less than 1 MB',
      });
      if (Math.min(longestMs, blockedMs) < LATE_MS) return;
    }
    throw new Error(`/healthz was late in every attempt: ${late.join(', ')} ms, ${LATE_MS} ms are allowed`);
  });
});
