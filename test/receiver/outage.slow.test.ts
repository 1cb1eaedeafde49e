import request, { type Response } from 'supertest';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { bodyOf, deliver, deliveriesIn, towRequest } from './calls';

const app = useApp({ role: 'receiver', ownRedis: true });
const { redis } = app;

/** Fails a request that hangs until Redis is back. The receiver itself gives up on Redis within 2 s. */
const HANGS_AFTER_MS = 15_000;

interface Outage {
  readonly name: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

const OUTAGES: readonly Outage[] = [
  { name: 'is down', begin: () => redis.kill(), end: () => redis.start() },
  { name: 'is frozen', begin: async () => redis.freeze(), end: async () => redis.thaw() },
  {
    name: 'is out of memory',
    begin: () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction'),
    end: () => redis.ask('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'is a read-only replica',
    begin: () => redis.ask('REPLICAOF', '127.0.0.1', '1'),
    end: () => redis.ask('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'has too few replicas to accept writes',
    begin: () => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    end: () => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
];

function burstOf(count: number, prefix: string): Promise<Response[]> {
  const bodies = Array.from({ length: count }, (_, at) => towRequest({ towing_reference_id: `${prefix}-${at}` }));
  return Promise.all(
    bodies.map((body) => deliver(app.receiverUrl, '/tow-request', body).timeout({ deadline: HANGS_AFTER_MS })),
  );
}

async function expectAccepting(): Promise<void> {
  await deliver(app.receiverUrl, '/tow-request', towRequest()).expect(200);
}

describe.each(OUTAGES)('receiver: while Redis $name', ({ name, begin, end }) => {
  afterEach(() => end());

  it(`answers 503 with Retry-After while Redis ${name}, and accepts the repeated webhooks once after it`, async () => {
    await eventually(expectAccepting);
    await begin();
    for (const burst of ['TW-A', 'TW-B']) {
      const responses = await burstOf(30, burst);
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]));
      expect(new Set(responses.map((response) => bodyOf(response).code))).toEqual(new Set(['not_stored']));
      for (const response of responses) expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
    }
    await end();
    await eventually(expectAccepting);
    // The sender repeats what was answered with 503. A frozen Redis may have stored some of it when it resumed.
    const repeated = await burstOf(30, 'TW-A');
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([200]));
    const stored = (await deliveriesIn(app.foundation)).map(({ towingReferenceId }) => towingReferenceId);
    expect(stored.filter((ref) => ref.startsWith('TW-A'))).toHaveLength(30);
  });

  it(`answers an invalid webhook with 400 while Redis ${name}`, async () => {
    await eventually(expectAccepting);
    await begin();
    const response = await deliver(app.receiverUrl, '/tow-request', '[]').timeout({ deadline: HANGS_AFTER_MS });
    expect([response.status, bodyOf(response).code]).toEqual([400, 'contract_broken']);
  });
});

describe('receiver: while the commands that store a call together take longer than 2 s', () => {
  it.each([
    ['a webhook', '/tow-request'],
    ['a call on another path that names a tow', '/tickets'],
  ])('answers %s with 503 and Retry-After without waiting for their end', async (_call, path) => {
    await eventually(expectAccepting);
    const { redis: connection } = app.foundation;
    const run = connection.evalsha.bind(connection);
    let end = () => {};
    const isEnded = new Promise<void>((resolve) => (end = resolve));
    const scripts = jest.spyOn(connection, 'evalsha').mockImplementation(async (...given) => {
      await isEnded;
      return run(...given);
    });

    try {
      const response = await request(app.receiverUrl)
        .post(path)
        .send(towRequest())
        .timeout({ deadline: HANGS_AFTER_MS });
      expect([response.status, bodyOf(response).code]).toEqual([503, 'not_stored']);
      expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      end();
      scripts.mockRestore();
    }
  });
});
