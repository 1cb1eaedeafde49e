import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { CALLS } from '../programs/tow';
import { openWorld, type BenchWorld } from '../stage/world';
import { oweReports, untilDrained } from '../workloads/owed-tows';
import type { WorkloadTools } from '../workloads/workload';
import { fillHistory } from './fill';

/** Finished tows that are cloned: they were played through the product. Digits alone, see fill.ts. */
const PLAYED = { prefix: '77700', from: 0, count: 20 };
const SETTLES_MS = 2000;
const WITHIN_MS = 120_000;

/** A world with a history. No process of towhook runs in it. */
export interface StoredWorld {
  readonly stored: number;
  readonly world: BenchWorld;
  /** The towing reference of a stored tow, 0 to `clones - 1`. */
  readonly clone: (number: number) => string;
  readonly clones: number;
}

/** Opens a world and fills it. The caller closes it. */
export async function openStoredWorld(stored: number, { options, progress }: WorkloadTools): Promise<StoredWorld> {
  const world = await openWorld(options);
  try {
    await oweReports(world, PLAYED);
    const worker = await world.role('worker');
    await untilDrained(world, PLAYED.count * CALLS.length, WITHIN_MS);
    await pause(SETTLES_MS);
    await worker.stop();
    await (await world.service()).ask({ do: 'reset' }, z.unknown());
    const console = await world.role('console');
    const consoleUrl = console.url('console');
    const clone = await fillHistory(world, { played: PLAYED, total: stored, consoleUrl, progress });
    await console.stop();
    await world.redis.ask('SLOWLOG', 'RESET');
    return { stored, world, clone, clones: stored - PLAYED.count };
  } catch (error) {
    await world.close();
    throw error;
  }
}
