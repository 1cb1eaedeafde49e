import { pause } from '../../src/platform/timers';
import { machineMs } from '../measure/resources';
import type { BenchRedis, RedisCounts } from './redis';

/** What a piece of work cost at Redis. */
export interface Cost {
  /** All commands, those that scripts called included. */
  readonly commands: number;
  readonly scripts: number;
  readonly aofBytes: number;
}

const SCRIPTS: readonly string[] = ['eval', 'evalsha', 'fcall'];
/** The bench itself reads the counts with it. */
const OWN_COMMANDS: readonly string[] = ['info'];

/** The cost of an action, without what the running processes do anyway: that is measured for the same time afterwards. */
export async function costOf(redis: BenchRedis, action: () => Promise<void>): Promise<Cost> {
  const worked = await window(redis, action);
  const idle = await window(redis, () => pause(worked.tookMs));
  return difference(idle.cost, worked.cost);
}

/** The cost of an action, with what the running processes do anyway in that time. */
export async function wholeCostOf(redis: BenchRedis, action: () => Promise<void>): Promise<Cost> {
  return (await window(redis, action)).cost;
}

/**
 * The cost of an action that starts and stops processes, without the cost of starting and stopping them: `again` does the
 * same when there is nothing left to do, for the time that it is given, ms.
 */
export async function costWithoutStart(
  redis: BenchRedis,
  action: () => Promise<void>,
  again: (forMs: number) => Promise<void>,
): Promise<Cost> {
  const worked = await window(redis, action);
  const idle = await window(redis, () => again(worked.tookMs));
  return difference(idle.cost, worked.cost);
}

async function window(redis: BenchRedis, action: () => Promise<void>): Promise<{ cost: Cost; tookMs: number }> {
  const before = costSoFar(await redis.counts());
  const startedMs = machineMs();
  await action();
  const tookMs = machineMs() - startedMs;
  return { cost: difference(before, costSoFar(await redis.counts())), tookMs };
}

/** What Redis has cost since its start, by its own counts. */
export function costSoFar({ commands, aofBytes }: RedisCounts): Cost {
  const sum = (names: readonly string[]) => names.reduce((total, name) => total + (commands.get(name) ?? 0), 0);
  const all = [...commands.values()].reduce((total, calls) => total + calls, 0);
  return { commands: all - sum(OWN_COMMANDS), scripts: sum(SCRIPTS), aofBytes };
}

function difference(from: Cost, to: Cost): Cost {
  return {
    commands: to.commands - from.commands,
    scripts: to.scripts - from.scripts,
    aofBytes: to.aofBytes - from.aofBytes,
  };
}
