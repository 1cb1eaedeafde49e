import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { machineMs, openCpuMeter, residentMib } from '../measure/resources';
import type { Measurement } from '../measure/figures';
import type { BenchWorld } from '../stage/world';
import { oweReports, serviceSummary } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

/** How long the outage lasts with a worker running, before the service answers again. */
const OUTAGE_MS = 15_000;
const DRAINED_WITHIN_MS = 900_000;
const LOOK_EVERY_MS = 500;
const UNAVAILABLE = 503;

/** Many tows, each with one report owed, while the service is down; then it comes back. */
export const backlog: Workload = {
  name: 'backlog',
  about: 'thousands of tows with a report owed after an outage: how soon sending resumes and how fast it drains',
  isStandard: false,
  async measure(tools) {
    const options = { ...tools.options, rounds: 1 };
    return compare('backlog', { figures: FIGURES, plays: PLAYS }, { ...tools, options });
  },
};

const FIGURES: Readonly<Record<string, Measurement>> = {
  failed: { label: 'calls during the outage of 15 s', unit: '', digits: 0 },
  resumed: { label: 'end of the outage → first accepted call', unit: 's', digits: 1 },
  rate: { label: 'draining, one worker', unit: 'reports/s', digits: 0 },
  node: { label: 'worker CPU per report', unit: 'ms', digits: 2 },
  memory: { label: 'worker memory, highest', unit: 'MiB', digits: 0 },
  slow: { label: 'Redis commands over 10 ms', unit: '', digits: 0 },
};

const PLAYS = [{ contender: 'towhook', run: recover }] as const;

async function recover(world: BenchWorld, { backlogTows }: Options) {
  await oweReports(world, { prefix: 'b', from: 0, count: backlogTows }, { factsPerTow: 1 });
  const service = await world.service();
  await service.ask({ do: 'fail', httpStatus: UNAVAILABLE }, z.unknown());
  const worker = await world.role('worker');
  await pause(OUTAGE_MS);
  const { failed } = await service.ask({ do: 'read' }, serviceSummary);

  await world.redis.ask('SLOWLOG', 'RESET');
  await service.ask({ do: 'fail', httpStatus: null }, z.unknown());
  const endedMs = machineMs();
  const usedMs = await openCpuMeter([worker.processId]);
  let highestMib = 0;
  let seen = await service.ask({ do: 'read' }, serviceSummary);
  while (seen.calls < backlogTows && machineMs() < endedMs + DRAINED_WITHIN_MS) {
    highestMib = Math.max(highestMib, await residentMib(worker.processId));
    await pause(LOOK_EVERY_MS);
    seen = await service.ask({ do: 'read' }, serviceSummary);
  }
  if (seen.calls < backlogTows) throw new Error(`only ${seen.calls} of ${backlogTows} reports were sent`);
  if (seen.disorder > 0) throw new Error(`${seen.disorder} calls came out of order or twice`);
  const [first, last] = [seen.firstAtMs ?? Number.NaN, seen.lastAtMs ?? Number.NaN];
  return {
    failed,
    resumed: (first - endedMs) / 1000,
    rate: (1000 * backlogTows) / (last - first),
    node: (await usedMs()) / backlogTows,
    memory: highestMib,
    slow: (await world.redis.slowCommands()).length,
  };
}
