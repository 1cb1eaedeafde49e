import { z } from 'zod';
import { startTestRedis, type TestRedis } from '../../test/support/redis-server';

/** What Redis has counted since its start, or since `reset` for the commands. */
export interface RedisCounts {
  /** Commands by name, those that scripts called included. */
  readonly commands: ReadonlyMap<string, number>;
  readonly usedMemoryBytes: number;
  readonly aofBytes: number;
}

export interface BenchRedis extends TestRedis {
  readonly version: string;
  counts(): Promise<RedisCounts>;
  /** Commands that took longer than 10 ms, as text, slowest first. */
  slowCommands(): Promise<readonly string[]>;
}

const SETTINGS = {
  appendfsync: 'always',
  // A rewrite in the middle of a run would distort both the times and the size of the file.
  'auto-aof-rewrite-percentage': '0',
  'slowlog-log-slower-than': '10000',
  'slowlog-max-len': '1000',
};

/** Starts an empty Redis that syncs every write to disk. The caller stops it. */
export async function startBenchRedis(): Promise<BenchRedis> {
  const redis = await startTestRedis(SETTINGS);
  const info = async (section: string) => String(await redis.ask('INFO', section));
  const version = fieldOf(await info('server'), 'redis_version');
  return {
    ...redis,
    get processId() {
      return redis.processId;
    },
    version,
    async counts() {
      const commands = [...(await info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)].map(
        ([, name = '', calls]): [string, number] => [name, Number(calls)],
      );
      return {
        commands: new Map(commands),
        usedMemoryBytes: Number(fieldOf(await info('memory'), 'used_memory')),
        aofBytes: Number(fieldOf(await info('persistence'), 'aof_current_size')),
      };
    },
    async slowCommands() {
      const reply = await redis.ask('SLOWLOG', 'GET', '-1');
      const entries = z
        .array(slowEntry)
        .parse(reply)
        .toSorted(([, , a], [, , b]) => b - a);
      return entries.map(([, , microseconds, words]) => {
        return `${(microseconds / 1000).toFixed(1)} ms ${words.slice(0, 3).join(' ').slice(0, 80)}`;
      });
    },
  };
}

/** The part of a SLOWLOG entry that is read: id, time, duration in microseconds, the command's words. */
const slowEntry = z.tuple([z.unknown(), z.unknown(), z.number(), z.array(z.coerce.string())]).rest(z.unknown());

function fieldOf(info: string, name: string): string {
  const [, value = ''] = new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info) ?? [];
  return value;
}
