import type { SharedRedis } from './redis';

/** Counts Redis commands instead of measuring time: a count is the same on a busy machine. */

const CALLS = /^cmdstat_(\S+):calls=(\d+)/gm;
const OWN: ReadonlySet<string> = new Set(['info', 'config|resetstat']);

/** The calls of each command so far, including those of scripts. */
export async function commandCounts(redis: Pick<SharedRedis, 'ask'>): Promise<ReadonlyMap<string, number>> {
  const text = String(await redis.ask('INFO', 'commandstats'));
  return new Map([...text.matchAll(CALLS)].map(([, name = '', calls = '0']) => [name, Number(calls)]));
}

/** The commands that an action causes, including those of scripts. Nothing else may use the Redis during it. */
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
