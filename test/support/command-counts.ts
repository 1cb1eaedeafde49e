import type { SharedRedis } from './redis';

/** Counts work at Redis instead of timing it: a count is the same on a busy machine. */

const CALLS = /^cmdstat_(\S+):calls=(\d+)/gm;
/** Commands by which the counts are read. */
const OWN: ReadonlySet<string> = new Set(['info', 'config|resetstat']);

/** How often each command has been called so far, those that scripts call included. */
export async function commandCounts(redis: Pick<SharedRedis, 'ask'>): Promise<ReadonlyMap<string, number>> {
  const text = String(await redis.ask('INFO', 'commandstats'));
  return new Map([...text.matchAll(CALLS)].map(([, name = '', calls = '0']) => [name, Number(calls)]));
}

/** How many commands an action causes, those that scripts call included; nothing else may use the Redis meanwhile. */
export async function commandsOf(
  redis: Pick<SharedRedis, 'ask'>,
  action: () => Promise<unknown>,
  isCounted: (name: string) => boolean = (name) => !OWN.has(name),
): Promise<number> {
  const before = await commandCounts(redis);
  await action();
  const after = await commandCounts(redis);
  return [...after].reduce((sum, [name, calls]) => (isCounted(name) ? sum + calls - (before.get(name) ?? 0) : sum), 0);
}
