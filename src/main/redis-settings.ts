import { isSevere, type RedisFault } from '../domain/redis-settings';
import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/timers';
import { redisSafety, UNREADABLE_PROBLEM, type RedisSafety } from '../store/redis-settings';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;

/** The settings of Redis, as this process sees them. */
export interface RedisSettingsReader {
  /** Reads them, and logs a problem when it appears, changes or ends. Rejects when Redis does not answer. */
  readonly read: () => Promise<RedisSafety>;
  /** Whether Redis was a replica when the settings were last read. */
  readonly isReplica: () => boolean;
  /** Reads the faults that raise an alarm. */
  readonly severeFaults: () => Promise<readonly RedisFault[]>;
}

export function openRedisSettings({
  config,
  redis,
  log,
}: Pick<Foundation, 'config' | 'redis' | 'log'>): RedisSettingsReader {
  let known: ReadonlyMap<string, string> = new Map();
  const read = async () => {
    const safety = await redisSafety(redis, config.redis);
    const found = new Map<string, string>([
      ...safety.faults.map(({ setting, problem }) => [setting, problem] as const),
      ...safety.unreadable.map((setting) => [setting, UNREADABLE_PROBLEM] as const),
    ]);
    for (const [setting, problem] of found) {
      const event = problem === UNREADABLE_PROBLEM ? 'redis.unreadable' : 'redis.unsafe';
      if (known.get(setting) !== problem) log.warn(event, { setting, problem });
    }
    for (const setting of known.keys()) if (!found.has(setting)) log.info('redis.setting_corrected', { setting });
    known = found;
    return safety;
  };
  return {
    read,
    isReplica: () => known.has('role'),
    severeFaults: async () => (await read()).faults.filter((fault) => isSevere(fault, config.redis)),
  };
}

/** Reads the settings of each Redis that this process connects to, and regularly: both may change while it runs. */
export function watchRedisSettings(
  redis: Foundation['redis'],
  { read }: RedisSettingsReader,
  troubleLog: Log,
): Repetition {
  redis.on('ready', () => void read().catch(() => {}));
  const work = async () => {
    await read();
    return 'wait' as const;
  };
  return repeat({ name: 'redis_settings', everyMs: EVERY_MS, log: troubleLog, work });
}
