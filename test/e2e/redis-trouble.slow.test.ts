import { simulatorCalls } from '../../src/contracts/simulator';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';
import { playThroughTrouble } from './stubborn-crew';

jest.setTimeout(150_000);
const redis = useOwnRedis();

const TOWS = 24;
/** The service posts again soon, so that the proof of an invoice is not late. */
const PATIENT_SERVICE = { retryDelaysMs: Array.from({ length: 90 }, () => 1000) };

interface Trouble {
  readonly name: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
  /** What /readyz says of Redis while it lasts. */
  readonly redisIs: string;
}

const TROUBLES: readonly Trouble[] = [
  {
    name: 'is killed with -9 and started again',
    begin: () => redis.kill(),
    end: () => redis.start(),
    redisIs: 'unreachable',
  },
  {
    name: 'freezes and thaws',
    begin: async () => redis.freeze(),
    end: async () => redis.thaw(),
    redisIs: 'unreachable',
  },
  {
    name: 'runs out of memory and is given more',
    begin: () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction'),
    end: () => redis.ask('CONFIG', 'SET', 'maxmemory', '0'),
    redisIs: 'refuses_writes',
  },
  {
    name: 'becomes a replica and a master again',
    begin: () => redis.ask('REPLICAOF', '127.0.0.1', '1'),
    end: () => redis.ask('REPLICAOF', 'NO', 'ONE'),
    redisIs: 'refuses_writes',
  },
];

const callsMade = async (town: Town) =>
  simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items.length;

async function readyz(worker: RoleProcess): Promise<{ httpStatus: number; text: string }> {
  const response = await fetch(`${await worker.url('ops')}/readyz`);
  return { httpStatus: response.status, text: await response.text() };
}

const isReady = (worker: RoleProcess) =>
  eventually(async () => expect((await readyz(worker)).httpStatus).toBe(200), 30_000);

afterEach(async () => {
  redis.thaw();
  await redis.start();
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  await redis.ask('REPLICAOF', 'NO', 'ONE');
});

/** Two processes at work on some tows; the trouble comes in the middle of it. */
async function atWork() {
  const town = await buildTown(redis.url, PATIENT_SERVICE);
  const [all, worker] = await Promise.all([town.start('all'), town.start('worker')]);
  const workers = [all, worker];
  const addresses = { consoleUrl: await all.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };
  const playing = playThroughTrouble(addresses, { tows: TOWS, timeLimitMs: 90_000 });
  return {
    workers,
    untilCalls: (count: number) => eventually(async () => expect(await callsMade(town)).toBeGreaterThan(count), 30_000),
    /** Every worker has worked, came back by itself, and everything arrived. */
    async endsWell() {
      for (const worker of workers) await isReady(worker);
      const { findings, finished } = await playing;
      expect(finished).toBe(TOWS);
      expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
      for (const worker of workers) {
        const events = worker.log.map(({ message }) => message);
        expect(events).toContain('report.attempted');
        expect(events).not.toContain('worker.stood_still');
        worker.kill('SIGTERM');
        expect(await worker.exited).toBe(0);
      }
    },
  };
}

async function isNotReady(worker: RoleProcess, redisIs: string): Promise<void> {
  await eventually(async () => {
    const { httpStatus, text } = await readyz(worker);
    expect([httpStatus, text]).toEqual([503, expect.stringContaining(redisIs)]);
  });
}

test.each(TROUBLES)(
  'when Redis $name under work, twice, the workers come back by themselves and every tow finishes in order',
  async ({ begin, end, redisIs }) => {
    const work = await atWork();
    for (const calls of [TOWS / 2, TOWS * 1.5]) {
      await work.untilCalls(calls);
      await begin();
      for (const worker of work.workers) await isNotReady(worker, redisIs);
      await end();
      for (const worker of work.workers) await isReady(worker);
    }
    await work.endsWell();
  },
);

test('when Redis is frozen for longer than a blocked connection waits, the workers come back by themselves', async () => {
  const work = await atWork();
  await work.untilCalls(TOWS);
  redis.freeze();
  for (const worker of work.workers) {
    await eventually(() => {
      const failures = worker.log.filter(({ message }) => message === 'worker.failed');
      expect(failures.some(({ error }) => String(error).startsWith('Socket timeout'))).toBe(true);
    }, 30_000);
  }
  redis.thaw();
  await work.endsWell();
});
