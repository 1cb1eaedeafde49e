import type { Finding } from '../cli';
import { isSevere, type RedisFault, type RedisSetting } from '../domain/ops/redis-settings';
import type { Config } from '../platform/config/config';
import type { Redis } from '../store/redis/connect';
import { infoOf, redisSafety, UNREADABLE_PROBLEM } from '../store/redis/redis-settings';
import { notesOf } from './finding';

const notes = notesOf('redis');

/** The oldest version that BullMQ supports without a warning. */
const OLDEST = { major: 6, minor: 2 };

/** The version of Redis, and the settings on which the promise depends. */
export async function settingsOf(redis: Redis, config: Config): Promise<Finding[]> {
  const { faults, unreadable } = await redisSafety(redis, config.redis);
  const version = /^redis_version:((\d+)\.(\d+)\S*)/m.exec(await infoOf(redis, 'server'));
  const [, text = 'unknown', major, minor] = version ?? [];
  const isOld = Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor);
  return [
    isOld
      ? notes.fault('redis_too_old', `version ${text} is too old`, 'Run Redis 6.2 or newer, or Valkey.')
      : notes.fine('redis_new_enough', `version ${text}`),
    ...faults.map((fault) => faultFinding(fault, config)),
    ...unreadable.map((setting) => unreadableFinding(setting, config)),
    ...(faults.length + unreadable.length > 0 ? [] : [keptFinding(config)]),
  ];
}

const CODES: Readonly<Record<RedisSetting, string>> = {
  role: 'redis_is_replica',
  appendonly: 'redis_without_aof',
  appendfsync: 'redis_syncs_late',
  'no-appendfsync-on-rewrite': 'redis_syncs_late',
  'maxmemory-policy': 'redis_evicts',
};

const inConfiguration = (settings: string) => `In redis.conf, or by CONFIG SET and CONFIG REWRITE: ${settings}.`;

const FIXES: Readonly<Record<RedisSetting, string>> = {
  role: 'Set REDIS_URL to the master, or REDIS_SENTINELS to follow it.',
  appendonly: inConfiguration('appendonly yes, appendfsync always'),
  appendfsync: inConfiguration('appendfsync always'),
  'no-appendfsync-on-rewrite': inConfiguration('no-appendfsync-on-rewrite no'),
  'maxmemory-policy': inConfiguration('maxmemory-policy noeviction'),
};

function faultFinding(fault: RedisFault, { redis }: Config): Finding {
  const { setting, problem } = fault;
  const [code, what] = [CODES[setting], `${setting} ${problem}`];
  return isSevere(fault, redis) ? notes.fault(code, what, FIXES[setting]) : notes.warning(code, what, FIXES[setting]);
}

function unreadableFinding(setting: RedisSetting, { redis: { isStrict } }: Config): Finding {
  const [code, what] = ['redis_setting_unreadable', `${setting} ${UNREADABLE_PROBLEM}`];
  const fix =
    'Ask the provider whether an acknowledged write is ever lost. If it is not, set REDIS_PERSISTENCE=trusted. On a Redis of yours, let the user read it: +info +config|get.';
  return isStrict ? notes.fault(code, what, fix) : notes.warning(code, what, fix);
}

function keptFinding({ redis: { trustsPersistence } }: Config): Finding {
  return trustsPersistence
    ? notes.fine('redis_trusted', 'keeps the data by the word of its provider (REDIS_PERSISTENCE=trusted)')
    : notes.fine('redis_syncs', 'every write is on its disk when it is acknowledged');
}
