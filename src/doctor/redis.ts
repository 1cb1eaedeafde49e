import type { Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { ConfigurationError, type Config } from '../platform/config/config';
import { openDataKeys, type DataKeys } from '../platform/data-keys';
import { silentLog } from '../platform/log/log';
import type { Resources } from '../platform/resources';
import { errorMessage } from '../platform/errors';
import { openAccess, type RedisAccess } from '../store/redis/access';
import {
  connectForCommandLine,
  deniedCommand,
  tryCommands,
  whenReady,
  writability,
  type Redis,
} from '../store/redis/connect';
import { dataKeyFaults } from '../store/ops/data-keys';
import { infoOf, isCluster, readRedisMemory, redisSafety, UNREADABLE_PROBLEM } from '../store/redis/redis-settings';
import { checkSchema, knownSchema, RestoreUnfinished, SchemaMismatch } from '../store/ops/schema';
import { NoEmbeddedData, openExisting } from '../embedded-redis/start';
import { variableFaults } from './configuration';
import { clockFinding, notesOf } from './finding';
import { failureOf, troubleOf, unreachable } from './redis-trouble';
import { isSevere, type RedisFault, type RedisSetting } from '../domain/ops/redis-settings';

export interface RedisCheck {
  readonly findings: Finding[];
  /** Null when Redis cannot be used. */
  readonly redis: Redis | null;
}

const READY_TIMEOUT_MS = 4000;

const notes = notesOf('redis');

/** Findings with which nothing else of Redis can be checked. */
const UNUSABLE: ReadonlySet<string> = new Set([
  'redis_is_replica',
  'redis_not_allowed',
  'redis_refuses_writes',
  'redis_restore_unfinished',
  'redis_schema_too_new',
  'redis_schema_too_old',
]);

/**
 * Checks Redis as the roles use it. Without REDIS_URL the embedded Redis is started, or joined if it runs; not one without
 * data, because a check must not create it.
 */
export async function checkRedis(config: Config, tools: { clock: Clock; resources: Resources }): Promise<RedisCheck> {
  const { clock, resources } = tools;
  let url: string;
  try {
    url = config.redis.url ?? (await openExisting(config, { log: silentLog, resources }));
  } catch (error) {
    if (error instanceof NoEmbeddedData) {
      const what = 'REDIS_URL is not set, and DATA_DIR has no embedded Redis yet: the first role that starts makes one';
      return none(notes.skipped('redis_not_begun', what));
    }
    const what = `the embedded Redis does not start: ${errorMessage(error)}`;
    return none(notes.fault('redis_unreachable', what, 'Set REDIS_URL to a Redis of yours.'));
  }
  const access = accessOrFaults(config, url);
  if (!('url' in access)) return { findings: access, redis: null };
  const redis = resources.add('redis', connectForCommandLine(access, { log: silentLog }), (opened) =>
    opened.disconnect(),
  );
  const trouble = await whenReady(redis, READY_TIMEOUT_MS).then(() => null, troubleOf);
  if (trouble !== null) return none(trouble);
  try {
    if (await isCluster(redis))
      return none(
        notes.fault(
          'redis_is_cluster',
          'this is a Redis Cluster, which moves keys between its servers',
          'Use one Redis, with Sentinels for a failover.',
        ),
      );
    const settings = await settingsOf(redis, config);
    const isReplica = settings.some(({ code }) => code === 'redis_is_replica');
    const findings = [
      ...settings,
      ...(await memoryOf(redis)),
      await schemaOf(redis),
      await clockOf(redis, clock),
      ...(isReplica ? [] : [await writesOf(redis)]),
      ...(await dataKeysOf(redis, access.dataKeys)),
    ];
    return { findings, redis: findings.some(({ code }) => UNUSABLE.has(code)) ? null : redis };
  } catch (error) {
    return none(failureOf(error));
  }
}

/** The access, or what is wrong with the files of certificates and data keys. */
function accessOrFaults(config: Config, url: string): RedisAccess | Finding[] {
  try {
    return openAccess(config.redis, url, openDataKeys(config));
  } catch (error) {
    if (error instanceof ConfigurationError) return variableFaults(error);
    throw error;
  }
}

function none(finding: Finding): RedisCheck {
  return { findings: [finding], redis: null };
}

/** No finding without data keys, as by default. */
async function dataKeysOf(redis: Redis, keys: DataKeys | null): Promise<Finding[]> {
  const lacking = (await dataKeyFaults(redis, keys)).map(({ id, fault }) => `${id} (${fault})`);
  if (lacking.length > 0) {
    return [
      notes.fault(
        'redis_data_keys_missing',
        `data in Redis needs data keys that this machine lacks: ${lacking.join(', ')}`,
        'Give every role the file of DATA_KEYS_FILE with all keys. See docs/operations/encryption.md.',
      ),
    ];
  }
  return keys === null ? [] : [notes.fine('data_keys', `personal data is encrypted under the key ${keys.first}`)];
}

async function schemaOf(redis: Redis): Promise<Finding> {
  try {
    const stored = await checkSchema(redis);
    if (stored === null)
      return notes.fine('redis_schema_known', `holds no data yet; its schema will be ${knownSchema()}`);
    return notes.fine('redis_schema_known', `holds data of schema ${stored}`);
  } catch (error) {
    if (error instanceof RestoreUnfinished) {
      const fix =
        'Wait until the restore ends. If it was interrupted, empty this Redis, with FLUSHDB if no other installation uses it, and restore again.';
      return notes.fault('redis_restore_unfinished', 'a restore into it is running or was interrupted', fix);
    }
    if (!(error instanceof SchemaMismatch)) throw error;
    if (!error.isDataNewer) return notes.fault('redis_schema_too_old', error.message, 'Run `towhook migrate`.');
    const fix = 'Start the version of towhook that wrote it, or a later one.';
    return notes.fault('redis_schema_too_new', error.message, fix);
  }
}

/** More than this share of maxmemory is a warning: a full Redis refuses webhooks. */
const MEMORY_SHARE_MAX = 0.75;

/** No finding where Redis does not show its memory. */
async function memoryOf(redis: Redis): Promise<Finding[]> {
  const memory = await readRedisMemory(redis);
  if (memory === null) return [];
  const { usedBytes, limitBytes } = memory;
  if (limitBytes === 0) return [notes.fine('redis_memory', `uses ${mebibytes(usedBytes)}; maxmemory sets no limit`)];
  const share = usedBytes / limitBytes;
  const what = `uses ${mebibytes(usedBytes)} of maxmemory ${mebibytes(limitBytes)} (${Math.round(share * 100)} %)`;
  if (share <= MEMORY_SHARE_MAX) return [notes.fine('redis_memory', what)];
  const fix = 'Raise maxmemory before it is full, or shorten KEEP_…_HOURS: a full Redis refuses webhooks.';
  return [notes.warning('redis_memory_short', what, fix)];
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

async function writesOf(redis: Redis): Promise<Finding> {
  const denied = await tryCommands(redis).then(
    () => null,
    (error: unknown) => (deniedCommand(error) === null ? null : unreachable(error)),
  );
  if (denied !== null) return denied;
  if ((await writability(redis)) === 'writable') return notes.fine('redis_writable', 'takes writes and scripts');
  return notes.fault(
    'redis_refuses_writes',
    'takes no writes',
    'Look at its log: out of memory (maxmemory), a disk that is full, or replicas that it must have and misses.',
  );
}

async function clockOf(redis: Redis, clock: Clock): Promise<Finding> {
  const beforeMs = clock.nowMs();
  const [seconds, microseconds] = await redis.time();
  const afterMs = clock.nowMs();
  const theirsMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
  return clockFinding('redis clock', theirsMs - (beforeMs + afterMs) / 2);
}

/** The oldest version that BullMQ supports without a warning. */
const OLDEST = { major: 6, minor: 2 };

/** The version of Redis, and the settings on which the promise depends. */
async function settingsOf(redis: Redis, config: Config): Promise<Finding[]> {
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
