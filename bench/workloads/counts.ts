import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { atMost, type Sample } from '../measure/figures';
import { CALLS, FACTS } from '../programs/tow';
import { costOf, costWithoutStart, wholeCostOf, type Cost } from '../stage/command-meter';
import { withoutScan } from '../stage/without-scan';
import { startLoad } from '../stage/load';
import { API_KEY, type BenchWorld } from '../stage/world';
import { oweReports, untilDrained } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

/** Exact counts need no thousands of tows. */
const TOWS_MAX = 200;
/** Few, so that a portion takes less than a second on any machine. */
const PORTION_WEBHOOKS = 4;
/** Longer than anything that follows the last call of a tow. */
const SETTLES_MS = 2000;
const WITHIN_MS = 120_000;

/** What a webhook, a fact and a tow cost at Redis; hardly depends on the machine. */
export const counts: Workload = {
  name: 'counts',
  about: 'script calls, Redis commands, AOF bytes and memory per webhook, fact and tow',
  isStandard: true,
  async measure(tools) {
    const options = { ...tools.options, rounds: 1, tows: Math.min(tools.options.tows, TOWS_MAX) };
    return compare('counts', { figures: FIGURES, plays: PLAYS }, { ...tools, options });
  },
};

const FIGURES = {
  webhook_commands: {
    label: 'Redis commands per accepted webhook that comes alone',
    unit: '',
    digits: 1,
    target: atMost(20),
  },
  webhook_scripts: { label: 'script calls per accepted webhook, one at a time', unit: '', digits: 1 },
  intake_commands: { label: 'Redis commands to take in a tow', unit: '', digits: 1 },
  fact_commands: { label: 'Redis commands per fact through the API', unit: '', digits: 1, target: atMost(25) },
  fact_scripts: { label: 'script calls per fact, one at a time', unit: '', digits: 1 },
  tow_commands: {
    label: 'Redis commands per tow of five reports, facts recorded before',
    unit: '',
    digits: 1,
    target: atMost(100),
  },
  tow_scripts: { label: 'script calls per tow, concurrency 50', unit: '', digits: 1, target: atMost(4) },
  alone_scripts: { label: 'script calls per tow, concurrency 1', unit: '', digits: 1, target: atMost(10) },
  aof: { label: 'AOF per tow, webhook to last report', unit: 'KB', digits: 1, target: atMost(27) },
  memory: { label: 'Redis memory per finished tow', unit: 'KiB', digits: 1, target: atMost(6.5) },
};

const PLAYS = [
  { contender: 'towhook', variant: 'concurrency 50', run: wholeLife },
  { contender: 'towhook', variant: 'concurrency 1', run: reportsAlone },
  { contender: 'express', run: rival },
] as const;

/** One phase at a time, each with only the processes that it needs. */
export async function wholeLife(world: BenchWorld, { tows }: Pick<Options, 'tows'>): Promise<Sample> {
  const phases = await withoutScan(world.redis, () => playPhases(world, tows, { WORKER_CONCURRENCY: '50' }));
  const { accept, intake, facts, reports } = phases;
  const aofBytes = [accept, intake, facts, reports].reduce((sum, phase) => sum + phase.aofBytes, 0);
  return {
    webhook_commands: accept.commands / tows,
    webhook_scripts: accept.scripts / tows,
    intake_commands: intake.commands / tows,
    fact_commands: facts.commands / tows / FACTS.length,
    fact_scripts: facts.scripts / tows / FACTS.length,
    tow_commands: reports.commands / tows,
    tow_scripts: reports.scripts / tows,
    aof: aofBytes / tows / 1000,
    memory: (await dataBytes(world, phases.queues)) / tows / 1024,
  };
}

export async function reportsAlone(world: BenchWorld, { tows }: Pick<Options, 'tows'>): Promise<Sample> {
  await oweReports(world, rangeOf(tows));
  const reports = await withoutScan(world.redis, () => costOfReports(world, tows, { WORKER_CONCURRENCY: '1' }));
  return { alone_scripts: reports.scripts / tows };
}

interface Phases {
  readonly accept: Cost;
  readonly intake: Cost;
  readonly facts: Cost;
  readonly reports: Cost;
  /** The names of the BullMQ queues. */
  readonly queues: readonly string[];
}

async function playPhases(world: BenchWorld, tows: number, worker: Readonly<Record<string, string>>): Promise<Phases> {
  const { redis } = world;
  const load = startLoad(world);
  const range = rangeOf(tows);

  const receiver = await world.role('receiver');
  const accept = await costOfWebhooks(redis, tows, async (portion) => {
    await load.deliver(receiver.url('receiver'), { ...range, ...portion }, 1);
  });
  await receiver.stop();

  // Nothing asks whether the tows are known yet: that would be counted.
  const work = (forMs: number) => workFor(world, worker, forMs);
  // Long enough on a busy machine: nothing else takes the webhooks in.
  const intake = await costWithoutStart(redis, () => work(SETTLES_MS * 4), work);

  const console = await world.role('console');
  await load.untilKnown(console.url('console'), range, 1);
  const facts = await costOf(redis, async () => {
    await load.facts(console.url('console'), range, { connections: 1 });
  });
  const queues = await queueNames(console.url('console'));
  await console.stop();

  const reports = await costOfReports(world, tows, worker);
  return { accept, intake, facts, reports, queues };
}

/**
 * The cost of accepting all webhooks. A receiver also stores once a second what it has answered, however few webhooks
 * that were. The cheapest portion shows what a webhook costs without that; nothing is subtracted, so that none seems
 * cheaper than it is.
 */
async function costOfWebhooks(
  redis: BenchWorld['redis'],
  tows: number,
  deliver: (portion: { from: number; count: number }) => Promise<void>,
): Promise<Cost> {
  const portions: { readonly count: number; readonly cost: Cost }[] = [];
  for (let from = 0; from < tows; from += PORTION_WEBHOOKS) {
    const count = Math.min(PORTION_WEBHOOKS, tows - from);
    portions.push({ count, cost: await wholeCostOf(redis, () => deliver({ from, count })) });
  }
  const least = (name: 'commands' | 'scripts') =>
    Math.min(...portions.map(({ count, cost }) => cost[name] / count)) * tows;
  return {
    commands: least('commands'),
    scripts: least('scripts'),
    aofBytes: portions.reduce((sum, { cost }) => sum + cost.aofBytes, 0),
  };
}

/** The cost of sending all reports of tows whose facts are recorded. */
async function costOfReports(world: BenchWorld, tows: number, worker: Readonly<Record<string, string>>): Promise<Cost> {
  const cost = await costWithoutStart(
    world.redis,
    async () => {
      const started = await world.role('worker', worker);
      await untilDrained(world, tows * CALLS.length, WITHIN_MS);
      await pause(SETTLES_MS);
      await started.stop();
    },
    (forMs) => workFor(world, worker, forMs),
  );
  const service = await world.service();
  const { failed } = await service.ask({ do: 'read' }, z.looseObject({ failed: z.int() }));
  if (failed > 0) throw new Error(`${failed} calls failed`);
  return cost;
}

/** Runs a worker for this time, its start included, ms. */
async function workFor(world: BenchWorld, worker: Readonly<Record<string, string>>, forMs: number): Promise<void> {
  const startedMs = performance.now();
  const started = await world.role('worker', worker);
  await pause(Math.max(0, forMs - (performance.now() - startedMs)));
  await started.stop();
}

function rangeOf(tows: number) {
  return { prefix: 'c', from: 0, count: tows };
}

async function queueNames(consoleUrl: string): Promise<readonly string[]> {
  const answer = await fetch(`${consoleUrl}/api/queues`, { headers: { authorization: `Bearer ${API_KEY}` } });
  return z
    .array(z.looseObject({ name: z.string() }))
    .parse(await answer.json())
    .map(({ name }) => name);
}

/** Bytes that the data takes, without the completed jobs that BullMQ keeps. Empties Redis. */
async function dataBytes({ redis }: BenchWorld, queues: readonly string[]): Promise<number> {
  const keys = z.array(z.string()).parse(await redis.ask('KEYS', '*'));
  const jobs = keys.filter((key) => queues.some((queue) => key.includes(`:${queue}:`)));
  if (jobs.length > 0) await redis.ask('DEL', ...jobs);
  const { usedMemoryBytes: full } = await redis.counts();
  await redis.ask('FLUSHALL', 'SYNC');
  const { usedMemoryBytes: empty } = await redis.counts();
  return full - empty;
}

/** Contender (a); while idle its processes do close to nothing. */
async function rival(world: BenchWorld, { tows }: Options): Promise<Sample> {
  const { redis } = world;
  const redisUrl = redis.url;
  const { url: serviceUrl } = await world.service();
  const receiver = world.program('express-rival');
  const { url } = await receiver.ask({ do: 'receive', redisUrl }, z.object({ url: z.string() }));
  const range = rangeOf(tows);
  const accept = await costOf(redis, async () => {
    await startLoad(world).deliver(url, range, 1);
  });
  await receiver.end();
  const reports = await costOf(redis, async () => {
    await world.program('express-rival').ask({ do: 'call', redisUrl, serviceUrl }, z.unknown());
    await untilDrained(world, tows * CALLS.length, WITHIN_MS);
    await pause(SETTLES_MS);
  });
  return {
    webhook_commands: accept.commands / tows,
    webhook_scripts: accept.scripts / tows,
    tow_commands: reports.commands / tows,
    tow_scripts: reports.scripts / tows,
    aof: (accept.aofBytes + reports.aofBytes) / tows / 1000,
  };
}
