import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliveriesIn, post, towRequest, type Answered } from './calls';

const app = useApp({ role: 'receiver' });
const { redis } = app;

/** The answer has to be there before the sender or a proxy gives up. */
const ANSWER_WITHIN_MS = 2000;

interface Outage {
  readonly name: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

const OUTAGES: readonly Outage[] = [
  { name: 'is gone', begin: () => redis.kill(), end: () => redis.start() },
  { name: 'is frozen', begin: async () => redis.freeze(), end: async () => redis.thaw() },
  {
    name: 'is out of memory',
    begin: () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction'),
    end: () => redis.ask('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    name: 'has become a replica that cannot be written to',
    begin: () => redis.ask('REPLICAOF', '127.0.0.1', '1'),
    end: () => redis.ask('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'misses the replicas it must have to write',
    begin: () => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '1'),
    end: () => redis.ask('CONFIG', 'SET', 'min-replicas-to-write', '0'),
  },
];

function burstOf(count: number, prefix: string): Promise<Answered[]> {
  const calls = Array.from({ length: count }, (_, at) => towRequest({ towing_reference_id: `${prefix}-${at}` }));
  return Promise.all(calls.map((call) => post(app.receiverUrl, '/tow-request', call)));
}

async function takesCalls(): Promise<void> {
  expect((await post(app.receiverUrl, '/tow-request', towRequest())).status).toBe(200);
}

describe.each(OUTAGES)('while Redis $name', ({ begin, end }) => {
  afterEach(() => end());

  it('every call is answered 503 with Retry-After within 2 s, and 200 again once Redis is back', async () => {
    await eventually(takesCalls);
    await begin();
    for (const burst of ['TW-A', 'TW-B']) {
      const answers = await burstOf(30, burst);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['not_stored']));
      for (const { headers } of answers) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(ANSWER_WITHIN_MS);
    }
    await end();
    await eventually(takesCalls);
    // The sender repeats what was answered 503; some of it may have been stored when Redis woke up.
    const repeated = await burstOf(30, 'TW-A');
    expect(new Set(repeated.map(({ status }) => status))).toEqual(new Set([200]));
    const stored = (await deliveriesIn(app.foundation)).map(({ towingReferenceId }) => towingReferenceId);
    expect(stored.filter((ref) => ref.startsWith('TW-A'))).toHaveLength(30);
  });

  it('a call that breaks the contract is answered 400 all the same, within 2 s', async () => {
    await eventually(takesCalls);
    await begin();
    const answered = await post(app.receiverUrl, '/tow-request', '{}');
    expect([answered.status, answered.body.code]).toEqual([400, 'contract_broken']);
    expect(answered.tookMs).toBeLessThan(ANSWER_WITHIN_MS);
  });
});
