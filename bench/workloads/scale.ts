import type { BenchWorld } from '../stage/world';
import { drainWithRivals, drainWithWorkers } from './lifecycle';
import { oweReports } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

const WORKERS = [1, 2] as const;

/** The lifecycle with one and with two workers. */
export const scale: Workload = {
  name: 'scale',
  about: 'the lifecycle with 1 and with 2 workers',
  isStandard: false,
  measure: (tools) => compare('scale', { figures: FIGURES, plays: PLAYS }, tools),
};

const FIGURES = Object.fromEntries(
  WORKERS.map((workers) => [`rate_${workers}`, { label: `workers: ${workers}`, unit: 'tows/s', digits: 1 }]),
);

const PLAYS = WORKERS.flatMap((workers) => [
  {
    contender: 'towhook' as const,
    variant: `workers: ${workers}`,
    run: async (world: BenchWorld, { tows }: Options) => {
      await oweReports(world, { prefix: 'l', from: 0, count: tows });
      const { sample } = await drainWithWorkers(world, { tows, workers });
      return { [`rate_${workers}`]: sample['rate'] ?? Number.NaN };
    },
  },
  {
    contender: 'express' as const,
    variant: `workers: ${workers}`,
    run: async (world: BenchWorld, { tows }: Options) => {
      const { rate = Number.NaN } = await drainWithRivals(world, { tows, workers });
      return { [`rate_${workers}`]: rate };
    },
  },
]);
