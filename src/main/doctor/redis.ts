import type { Finding } from '../../cli';
import type { Clock } from '../../platform/clock';
import type { Config } from '../../platform/config';
import { silentLog } from '../../platform/log';
import type { Resources } from '../../platform/resources';
import { codeOf, messageOf } from '../../platform/system-error';
import { connectFailFast, isForeignProtocol, isReply, whenReady, writability } from '../../store/connect';
import { checkSchema, knownSchemaVersion, SchemaTooNew } from '../../store/schema';
import { redisFaults, syncPolicy, type RedisFault } from '../../store/settings';
import { openEmbedded } from '../foundation';
import { clockFinding, notesOf } from './finding';

export type Connection = ReturnType<typeof connectFailFast>;

export interface RedisLook {
  readonly findings: readonly Finding[];
  /** Null unless it can be worked with. */
  readonly redis: Connection | null;
}

const READY_TIMEOUT_MS = 4000;
/** The oldest that BullMQ runs on without a warning. */
const OLDEST = { major: 6, minor: 2 };

const notes = notesOf('redis');

/** Redis as the roles use it; without REDIS_URL the embedded one is started, or joined where it runs. */
export async function lookAtRedis(config: Config, tools: { clock: Clock; resources: Resources }): Promise<RedisLook> {
  const { clock, resources } = tools;
  let url: string;
  try {
    url = config.redis.url ?? (await openEmbedded(config, { log: silentLog, clock, resources }));
  } catch (error) {
    const what = `the embedded Redis does not start: ${messageOf(error)}`;
    return none(notes.fault('redis_unreachable', what, 'Set REDIS_URL to a Redis of yours.'));
  }
  const redis = resources.add('redis', connectFailFast(url, { log: silentLog }), (opened) => opened.disconnect());
  const trouble = await whenReady(redis, READY_TIMEOUT_MS).then(() => null, troubleOf);
  if (trouble !== null) return none(trouble);
  try {
    const others = [await schemaOf(redis), await clockOf(redis, clock), await roleOf(redis)];
    const isUnusable = others.some(({ code }) => code === 'redis_refuses_writes' || code === 'redis_schema_too_new');
    return { findings: [...(await settingsOf(redis, config)), ...others], redis: isUnusable ? null : redis };
  } catch (error) {
    return none(unreachable(error));
  }
}

function none(finding: Finding): RedisLook {
  return { findings: [finding], redis: null };
}

/** Of an error that only says that Redis did not get ready: what kept it from that. */
function troubleOf(error: unknown): Finding {
  return unreachable(error instanceof Error ? error.cause : null);
}

function unreachable(error: unknown): Finding {
  const said = messageOf(error);
  if (/NOAUTH|WRONGPASS|NOPERM/.test(said)) {
    const fix = 'Put the right user and password into REDIS_URL: redis://user:password@host:port.';
    return notes.fault('redis_not_allowed', 'Redis does not accept the user or the password of REDIS_URL', fix);
  }
  if (error instanceof Error && isForeignProtocol(error)) {
    const fix = 'Set REDIS_URL to host and port of a Redis; rediss:// where it speaks TLS.';
    return notes.fault('redis_is_something_else', 'what answers at REDIS_URL is no Redis', fix);
  }
  return notes.fault(
    'redis_unreachable',
    `cannot be reached (REDIS_URL): ${wordsOf(error)}`,
    'Start Redis, or set REDIS_URL to where it runs; look at firewalls and TLS (rediss://) in between.',
  );
}

/** Redis's own words, or what the system's code means; never a text of a library. */
function wordsOf(error: unknown): string {
  if (isReply(error)) return messageOf(error);
  const code = codeOf(error);
  return code === null ? 'no answer' : (SYSTEM_WORDS[code] ?? code);
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name is not known',
  EHOSTUNREACH: 'no way leads there',
  ENETUNREACH: 'no way leads there',
  ETIMEDOUT: 'no answer',
};

async function settingsOf(redis: Connection, config: Config): Promise<Finding[]> {
  const [faults, policy] = await Promise.all([redisFaults(redis), syncPolicy(redis)]);
  const version = /^redis_version:((\d+)\.(\d+)\S*)/m.exec(await redis.info('server'));
  const [, text = 'unknown', major, minor] = version ?? [];
  const isOld = Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor);
  return [
    isOld
      ? notes.fault('redis_too_old', `version ${text} is too old`, 'Run Redis 6.2 or newer, or Valkey.')
      : notes.fine('redis_new_enough', `version ${text}`),
    ...faults.map((fault) => faultFinding(fault, config)),
    ...(faults.some(({ setting }) => setting !== 'maxmemory-policy') ? [] : [syncFinding(policy)]),
  ];
}

const CODES: Readonly<Record<RedisFault['setting'], string>> = {
  appendonly: 'redis_without_aof',
  appendfsync: 'redis_syncs_late',
  'maxmemory-policy': 'redis_evicts',
};

const RIGHT_SETTINGS: Readonly<Record<RedisFault['setting'], string>> = {
  appendonly: 'appendonly yes, appendfsync always',
  appendfsync: 'appendfsync always',
  'maxmemory-policy': 'maxmemory-policy noeviction',
};

/** Late syncing loses the last moments only: a warning, unless it stops the start (REDIS_STRICT). */
function faultFinding({ setting, problem }: RedisFault, { redis: { isStrict } }: Config): Finding {
  const [code, what] = [CODES[setting], `${setting} ${problem}`];
  const fix = `In redis.conf, or by CONFIG SET and CONFIG REWRITE: ${RIGHT_SETTINGS[setting]}.`;
  return setting === 'appendfsync' && !isStrict ? notes.warning(code, what, fix) : notes.fault(code, what, fix);
}

/** Called when the sync policy is no fault: it is `always`, or unknown. */
function syncFinding(policy: string | null): Finding {
  if (policy !== null) return notes.fine('redis_syncs', 'every write is on its disk when it is acknowledged');
  return notes.skipped(
    'not_looked_at',
    'this Redis does not show appendfsync: ask its provider whether every write is synced before it is acknowledged',
  );
}

async function schemaOf(redis: Connection): Promise<Finding> {
  try {
    const stored = await checkSchema(redis);
    const known = knownSchemaVersion();
    if (stored === null) return notes.fine('redis_schema_known', `holds no data yet; its schema will be ${known}`);
    const migrated = stored < known ? `; the next start migrates it to ${known}` : '';
    return notes.fine('redis_schema_known', `holds data of schema ${stored}${migrated}`);
  } catch (error) {
    if (!(error instanceof SchemaTooNew)) throw error;
    const what = `holds data of schema ${error.stored}; this version knows schemas up to ${error.known}`;
    return notes.fault('redis_schema_too_new', what, 'Start the version of towhook that wrote it, or a later one.');
  }
}

async function roleOf(redis: Connection): Promise<Finding> {
  const role = /^role:(\S+)/m.exec(await redis.info('replication'))?.[1];
  if (role === 'slave') {
    const fix = 'Set REDIS_URL to the master, or to the address that follows it.';
    return notes.fault('redis_refuses_writes', 'this Redis is a replica and takes no writes', fix);
  }
  if ((await writability(redis)) === 'writable') return notes.fine('redis_writable', 'takes writes');
  return notes.fault(
    'redis_refuses_writes',
    'takes no writes',
    'Look at its log: out of memory (maxmemory), a disk that is full, or replicas that it must have and misses.',
  );
}

async function clockOf(redis: Connection, clock: Clock): Promise<Finding> {
  const beforeMs = clock.nowMs();
  const [seconds, microseconds] = await redis.time();
  const afterMs = clock.nowMs();
  const theirsMs = Number(seconds) * 1000 + Number(microseconds) / 1000;
  return clockFinding('redis clock', theirsMs - (beforeMs + afterMs) / 2);
}
