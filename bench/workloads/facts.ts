import { z } from 'zod';
import type { Measurement } from '../measure/figures';
import { openCpuMeter } from '../measure/resources';
import { FACTS } from '../programs/tow';
import { rateOf, startLoad, type LoadReport } from '../stage/load';
import type { BenchWorld } from '../stage/world';
import { makeTows } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

/** One tow in so many comes before the clock starts: the code is compiled by then. */
const WARM_UP_SHARE = 5;
/** The rate that (a) reaches where the target of 1,000 facts/s per core applies. */
const REFERENCE = { facts: 1000, webhooks: 2500 };

/** Facts per second that the operator API records; contender (a) is its own receiver, one job per request. */
export const facts: Workload = {
  name: 'facts',
  about: 'facts per second recorded through the operator API',
  isStandard: true,
  measure: (tools) => compare('facts', { figures: FIGURES, plays: PLAYS }, tools),
};

const FIGURES: Readonly<Record<string, Measurement>> = {
  rate: { label: 'operator API, one console', unit: 'facts/s', digits: 0 },
  per_core: {
    label: 'per second of console CPU',
    unit: 'facts',
    digits: 0,
    target: {
      text: '≥ 1,000 where (a) accepts 2,500 webhooks/s',
      holds: (towhook, express) => towhook * REFERENCE.webhooks >= express * REFERENCE.facts,
    },
  },
  p99: { label: 'p99', unit: 'ms', digits: 1 },
  unavailable: { label: 'answers 503', unit: '', digits: 0 },
  node: { label: 'console CPU per fact', unit: 'ms', digits: 2 },
  redis: { label: 'Redis CPU per fact', unit: 'ms', digits: 3 },
};

const PLAYS = [
  {
    contender: 'towhook',
    run: async (world: BenchWorld, { tows, connections }: Options) => {
      const warmUp = { prefix: 'w', from: 0, count: Math.ceil(tows / WARM_UP_SHARE) };
      const range = { prefix: 'f', from: 0, count: tows };
      await makeTows(world, [warmUp, range]);
      const console = await world.role('console');
      const load = startLoad(world);
      await load.facts(console.url('console'), warmUp, { connections });
      return measure(world, console.processId, () => load.facts(console.url('console'), range, { connections }));
    },
  },
  {
    contender: 'express',
    run: async (world: BenchWorld, { tows, connections }: Options) => {
      const receiver = world.program('express-rival');
      const { url } = await receiver.ask({ do: 'receive', redisUrl: world.redis.url }, z.object({ url: z.string() }));
      const load = startLoad(world);
      const warmUp = { prefix: 'w', from: 0, count: Math.ceil(tows / WARM_UP_SHARE) * FACTS.length };
      await load.deliver(url, warmUp, connections);
      const range = { prefix: 'f', from: 0, count: tows * FACTS.length };
      return measure(world, receiver.processId, () => load.deliver(url, range, connections));
    },
  },
] as const;

async function measure(world: BenchWorld, processId: number, run: () => Promise<LoadReport>) {
  const [nodeMs, redisMs] = await Promise.all([openCpuMeter([processId]), openCpuMeter([world.redis.processId])]);
  const report = await run();
  const [node, redis] = await Promise.all([nodeMs(), redisMs()]);
  return {
    rate: rateOf(report),
    per_core: (1000 * report.requests) / node,
    p99: report.p99Ms ?? Number.NaN,
    unavailable: report.unavailable,
    node: node / report.requests,
    redis: redis / report.requests,
  };
}
