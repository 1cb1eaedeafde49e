import { z } from 'zod';
import { atLeastTimes, atMostTimes, type Sample } from '../measure/figures';
import { openCpuMeter } from '../measure/resources';
import { rateOf, startLoad } from '../stage/load';
import type { BenchWorld } from '../stage/world';
import { compare, type Options, type Workload } from './workload';

/** Requests before the clock starts: the code is compiled by then. */
const WARM_UP = 2000;
const listening = z.object({ url: z.string() });

/** Webhooks per second that a receiver accepts, with workers held and with workers that take them in. */
export const accept: Workload = {
  name: 'accept',
  about: 'webhooks accepted per second, with workers held and with intake running',
  isStandard: true,
  measure: (tools) => compare('accept', { figures: FIGURES, plays: PLAYS }, tools),
};

const FIGURES = {
  held_rate: { label: 'workers held', unit: 'webhooks/s', digits: 0, target: atLeastTimes(2.8) },
  held_p50: { label: 'workers held, p50', unit: 'ms', digits: 1 },
  held_p99: { label: 'workers held, p99', unit: 'ms', digits: 1, target: atMostTimes(1) },
  held_node: { label: 'workers held, receiver CPU per webhook', unit: 'ms', digits: 2 },
  held_redis: { label: 'workers held, Redis CPU per webhook', unit: 'ms', digits: 3 },
  held_503: { label: 'workers held, answers 503', unit: '', digits: 0 },
  intake_rate: { label: 'intake running', unit: 'webhooks/s', digits: 0, target: atLeastTimes(1.3) },
  intake_p99: { label: 'intake running, p99', unit: 'ms', digits: 1, target: atMostTimes(1) },
  intake_503: { label: 'intake running, answers 503', unit: '', digits: 0 },
};

const PLAYS = [
  {
    contender: 'towhook',
    variant: 'workers held',
    run: async (world: BenchWorld, options: Options) => {
      const receiver = await world.role('receiver');
      return load(world, options, { kind: 'held', url: receiver.url('receiver'), processId: receiver.processId });
    },
  },
  {
    contender: 'express',
    variant: 'workers held',
    run: async (world: BenchWorld, options: Options) => {
      const receiver = world.program('express-rival');
      const { url } = await receiver.ask({ do: 'receive', redisUrl: world.redis.url }, listening);
      return load(world, options, { kind: 'held', url, processId: receiver.processId });
    },
  },
  {
    contender: 'xadd',
    run: async (world: BenchWorld, options: Options) => {
      const receiver = world.program('xadd-rival');
      const { url } = await receiver.ask({ do: 'receive', redisUrl: world.redis.url }, listening);
      return load(world, options, { kind: 'held', url, processId: receiver.processId });
    },
  },
  {
    contender: 'towhook',
    variant: 'intake running',
    run: async (world: BenchWorld, options: Options) => {
      const receiver = await world.role('receiver');
      await world.role('worker');
      return load(world, options, { kind: 'intake', url: receiver.url('receiver'), processId: receiver.processId });
    },
  },
  {
    contender: 'express',
    variant: 'intake running',
    run: async (world: BenchWorld, options: Options) => {
      const receiver = world.program('express-rival');
      const { url } = await receiver.ask({ do: 'receive', redisUrl: world.redis.url }, listening);
      await world.program('express-rival').ask({ do: 'take-in', redisUrl: world.redis.url }, z.unknown());
      return load(world, options, { kind: 'intake', url, processId: receiver.processId });
    },
  },
] as const;

async function load(
  world: BenchWorld,
  { connections, seconds }: Options,
  { kind, url, processId }: { kind: 'held' | 'intake'; url: string; processId: number },
): Promise<Sample> {
  const generator = startLoad(world);
  await generator.deliver(url, { prefix: 'warm', from: 0, count: WARM_UP }, connections);
  const [nodeMs, redisMs] = await Promise.all([openCpuMeter([processId]), openCpuMeter([world.redis.processId])]);
  const report = await generator.webhooks(url, { connections, durationMs: seconds * 1000 });
  return {
    [`${kind}_rate`]: rateOf(report),
    [`${kind}_p50`]: report.p50Ms ?? Number.NaN,
    [`${kind}_p99`]: report.p99Ms ?? Number.NaN,
    [`${kind}_503`]: report.unavailable,
    [`${kind}_node`]: (await nodeMs()) / report.requests,
    [`${kind}_redis`]: (await redisMs()) / report.requests,
  };
}
