import { pause } from '../../src/platform/timers';
import { atMost } from '../measure/figures';
import { watchMemory, openCpuMeter } from '../measure/resources';
import type { BenchRole, RoleName } from '../stage/role';
import type { BenchWorld } from '../stage/world';
import { compare, type Options, type Workload } from './workload';

const ROLES = ['receiver', 'worker', 'console', 'all'] as const satisfies readonly RoleName[];
/** After its start a process settles, and its CPU time is that of an idle process. */
const SETTLES_MS = 10_000;

/** What a process needs while nothing happens. */
export const footprint: Workload = {
  name: 'footprint',
  about: 'time from start to ready, memory and CPU of each role while it is idle',
  isStandard: true,
  measure: (tools) => compare('footprint', { figures: FIGURES, plays: PLAYS }, tools),
};

const FIGURES = Object.fromEntries(
  ROLES.flatMap((role) => [
    [`${role}_ready`, { label: `\`${role}\`, start to ready`, unit: 'ms', digits: 0 }],
    [
      `${role}_memory`,
      {
        label: `\`${role}\`, idle memory, highest`,
        unit: 'MiB',
        digits: 0,
        ...(role === 'all' ? { target: atMost(110) } : {}),
      },
    ],
    [`${role}_cpu`, { label: `\`${role}\`, idle CPU`, unit: 'ms/s', digits: 1 }],
  ]),
);

const PLAYS = [
  {
    contender: 'towhook',
    run: async (world: BenchWorld, { seconds }: Options) => {
      const started = new Map<RoleName, BenchRole>();
      // One after the other, so that none slows the start of another.
      for (const role of ROLES) started.set(role, await world.role(role));
      const memory = watchMemory([...started.values()].map(({ processId }) => processId));
      await pause(SETTLES_MS);
      const meters = new Map<RoleName, () => Promise<number>>();
      for (const [role, { processId }] of started) meters.set(role, await openCpuMeter([processId]));
      await pause(seconds * 1000);
      const highestMib = await memory.end();
      const sample: Record<string, number> = {};
      for (const [role, { processId, readyAfterMs }] of started) {
        sample[`${role}_ready`] = readyAfterMs;
        sample[`${role}_memory`] = highestMib(processId);
        sample[`${role}_cpu`] = ((await meters.get(role)?.()) ?? Number.NaN) / seconds;
      }
      return sample;
    },
  },
] as const;
