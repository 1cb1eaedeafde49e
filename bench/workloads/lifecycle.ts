import { z } from 'zod';
import { atLeastTimes, type Sample } from '../measure/figures';
import { cpuMs, openCpuMeter } from '../measure/resources';
import { costSoFar } from '../stage/command-meter';
import type { BenchRole } from '../stage/role';
import type { BenchWorld } from '../stage/world';
import { CALLS } from '../programs/tow';
import { oweReports, untilDrained } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

const DRAINED_WITHIN_MS = 300_000;
/** As many tows at once as a worker of towhook takes. */
const CONCURRENCY = 50;
const PREFIX = 'l';

/** Tows per second that a worker carries through their five reports; the facts are recorded before the clock starts. */
export const lifecycle: Workload = {
  name: 'lifecycle',
  about: 'tows per second carried through five reports, facts recorded before the clock starts',
  isStandard: true,
  measure: (tools) => compare('lifecycle', { figures: FIGURES, plays: PLAYS }, tools),
};

const FIGURES = {
  rate: { label: 'one worker', unit: 'tows/s', digits: 1, target: atLeastTimes(0.9) },
  node: { label: 'worker CPU per tow, its start included', unit: 'ms', digits: 2 },
  redis: { label: 'Redis CPU per tow', unit: 'ms', digits: 2 },
  commands: { label: 'Redis commands per tow, with what the worker does anyway', unit: '', digits: 1 },
  service: { label: 'CPU of the stub of the service per tow', unit: 'ms', digits: 2 },
};

const PLAYS = [
  {
    contender: 'towhook',
    run: async (world: BenchWorld, { tows }: Options) => {
      await oweReports(world, { prefix: PREFIX, from: 0, count: tows });
      return (await drainWithWorkers(world, { tows, workers: 1 })).sample;
    },
  },
  {
    contender: 'express',
    run: async (world: BenchWorld, { tows }: Options) => drainWithRivals(world, { tows, workers: 1 }),
  },
  {
    contender: 'loop',
    run: async (world: BenchWorld, { tows }: Options) => {
      const { url } = await world.service();
      const loop = world.program('call-loop');
      return drain(world, { tows, processIds: [loop.processId] }, async () => {
        await loop.ask({ do: 'loop', serviceUrl: url, tows, prefix: PREFIX, concurrency: CONCURRENCY }, z.unknown());
      });
    },
  },
] as const;

/** Starts workers of towhook and waits until they have sent every report of `tows` tows. Returns them, running. */
export async function drainWithWorkers(
  world: BenchWorld,
  { tows, workers }: { tows: number; workers: number },
): Promise<{ sample: Sample; roles: readonly BenchRole[] }> {
  await (await world.service()).ask({ do: 'reset' }, z.unknown());
  const roles: BenchRole[] = [];
  const processIds: number[] = [];
  const sample = await drain(world, { tows, processIds }, async () => {
    roles.push(...(await Promise.all(Array.from({ length: workers }, () => world.role('worker')))));
    processIds.push(...roles.map(({ processId }) => processId));
  });
  return { sample, roles };
}

/** The same with contender (a): its jobs are added first. */
export async function drainWithRivals(
  world: BenchWorld,
  { tows, workers }: { tows: number; workers: number },
): Promise<Sample> {
  const { url } = await world.service();
  const redisUrl = world.redis.url;
  await world.program('express-rival').ask({ do: 'owe', redisUrl, tows, prefix: PREFIX }, z.unknown());
  const rivals = Array.from({ length: workers }, () => world.program('express-rival'));
  return drain(world, { tows, processIds: rivals.map(({ processId }) => processId) }, async () => {
    await Promise.all(rivals.map((rival) => rival.ask({ do: 'call', redisUrl, serviceUrl: url }, z.unknown())));
  });
}

/** The CPU time of the workers includes their start, a few hundred milliseconds per process. */
async function drain(
  world: BenchWorld,
  { tows, processIds }: { tows: number; processIds: readonly number[] },
  start: () => Promise<void>,
): Promise<Sample> {
  const redisMs = await openCpuMeter([world.redis.processId]);
  const serviceMs = await openCpuMeter([(await world.service()).processId]);
  const commandsSoFar = async () => costSoFar(await world.redis.counts()).commands;
  const commandsBefore = await commandsSoFar();
  const [{ seconds }] = await Promise.all([untilDrained(world, tows * CALLS.length, DRAINED_WITHIN_MS), start()]);
  const workersMs = await Promise.all(processIds.map(cpuMs));
  return {
    rate: tows / seconds,
    node: workersMs.reduce((sum, each) => sum + each, 0) / tows,
    redis: (await redisMs()) / tows,
    commands: ((await commandsSoFar()) - commandsBefore) / tows,
    service: (await serviceMs()) / tows,
  };
}
