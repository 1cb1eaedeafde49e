import { setTimeout as pause } from 'node:timers/promises';
import { atMost } from '../measure/figures';
import { openCpuMeter, residentMib } from '../measure/resources';
import type { RoleName } from '../stage/role';
import type { World } from '../stage/world';
import { compare, type Options, type Workload } from './workload';

const ROLES = ['receiver', 'worker', 'console', 'all'] as const satisfies readonly RoleName[];
/** After its start a process settles: code is compiled, memory of the start is given back. */
const SETTLES_MS = 3000;

/** What a process needs while nothing happens. */
export const footprint: Workload = {
  name: 'footprint',
  about: 'time from start to ready, memory and CPU of each role while it is idle',
  isStandard: true,
  async measure(tools) {
    const rows = await compare('footprint', { figures: FIGURES, plays: PLAYS }, tools);
    return { rows, sections: [] };
  },
};

const FIGURES = Object.fromEntries(
  ROLES.flatMap((role) => [
    [`${role}_ready`, { label: `\`${role}\`, start to ready`, unit: 'ms', digits: 0 }],
    [
      `${role}_memory`,
      {
        label: `\`${role}\`, idle memory`,
        unit: 'MiB',
        digits: 0,
        ...(role === 'all' ? { target: atMost(130) } : {}),
      },
    ],
    [`${role}_cpu`, { label: `\`${role}\`, idle CPU`, unit: 'ms/s', digits: 1 }],
  ]),
);

const PLAYS = ROLES.map((role) => ({
  contender: 'towhook' as const,
  variant: role,
  run: async (world: World, { seconds }: Options) => {
    const started = await world.role(role);
    await pause(SETTLES_MS);
    const usedMs = await openCpuMeter([started.processId]);
    await pause(seconds * 1000);
    return {
      [`${role}_ready`]: started.readyAfterMs,
      [`${role}_memory`]: await residentMib(started.processId),
      [`${role}_cpu`]: (await usedMs()) / seconds,
    };
  },
}));
