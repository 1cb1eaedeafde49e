import { isSevere, type RedisFault } from '../domain/ops/redis-settings';
import { ConfigurationError } from '../platform/config/config';
import type { Log } from '../platform/log/log';
import { throwUnhandled } from '../platform/process';
import { repeat, type Repetition } from '../platform/timers';
import { redisSafety, UNREADABLE_PROBLEM, type RedisSafety } from '../store/redis/redis-settings';
import type { Foundation } from './foundation';

const EVERY_MS = 15_000;

/** The settings of Redis, as this process sees them. */
export interface RedisSettingsReader {
  /**
   * Reads them, and logs a problem when it appears, changes or ends. Rejects when Redis does not answer, and with
   * ConfigurationError when REDIS_STRICT refuses the settings that this process reads first: those of its start.
   */
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
  let isAccepted = !config.redis.isStrict;
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
    if (!isAccepted) refuseUnsafe(safety);
    isAccepted = true;
    return safety;
  };
  return {
    read,
    isReplica: () => known.has('role'),
    severeFaults: async () => (await read()).faults.filter((fault) => isSevere(fault, config.redis)),
  };
}

/** @throws ConfigurationError that names each setting. */
function refuseUnsafe({ faults, unreadable }: RedisSafety): void {
  const unsafe = faults.map(({ setting, problem }) => `points to a Redis whose ${setting} ${problem}`);
  const unknown = unreadable.map(
    (setting) =>
      `points to a Redis whose ${setting} ${UNREADABLE_PROBLEM}; if it keeps the data, set REDIS_PERSISTENCE=trusted`,
  );
  const rules = [...unsafe, ...unknown];
  if (rules.length > 0) throw new ConfigurationError(rules.map((rule) => ({ variable: 'REDIS_URL', rule })));
}

/**
 * Reads the settings of each Redis that this process connects to, and regularly: both may change while it runs. Ends the
 * process, as an unhandled failure does, when REDIS_STRICT refuses a Redis that could not be reached at the start.
 */
export function watchRedisSettings(
  redis: Foundation['redis'],
  { read }: RedisSettingsReader,
  troubleLog: Log,
): Repetition {
  const work = async () => {
    await read().catch((error: unknown) => {
      if (!(error instanceof ConfigurationError)) throw error;
      throwUnhandled(error);
    });
  };
  redis.on('ready', () => void work().catch(() => {}));
  return repeat({ name: 'redis_settings', everyMs: EVERY_MS, log: troubleLog, work });
}
