import { OPERATIONS, type Operation } from '../contracts/operations';
import { ROUTES, type Route } from '../contracts/operator-routes';
import { sensitiveFieldNames } from '../contracts/sensitive';
import { systemClock, type Clock } from '../platform/clock';
import { configSummary, ConfigurationError, type Config } from '../platform/config';
import { createLog, errorFacts, type Log } from '../platform/log';
import { throttledLog } from '../platform/log-throttle';
import { createMetrics, type Metrics } from '../platform/metrics';
import { createTally, type Tally } from '../platform/tally';
import { createResources, type Resources } from '../platform/resources';
import { createQueues, QUEUE_NAMES, type QueueName, type Queues } from '../queue/queues';
import { createWake } from '../queue/wake';
import { createSpool, type DiskSpool } from '../spool';
import { connectFailFast, connectPatient, whenReady } from '../store/connect';
import { createConservationStore } from '../store/conservation';
import { createDueSets, type DueSet } from '../store/due';
import { startEmbeddedRedis } from '../store/embedded/start';
import { PARTITION } from '../store/keys';
import { createSendingStore } from '../store/sending';
import { nudge } from '../store/nudges';
import { UnexpectedReply } from '../store/parse';
import { prepareSchema, SchemaTooNew } from '../store/schema';
import { redisFaults } from '../store/settings';
import { createSpoolMarker } from '../store/spool-marker';
import type { BulkWake } from '../workflow/bulk-port';
import type { Wake } from '../workflow/ports';
import { watchConservation } from './conservation-figures';
import { watchSending } from './sending-figures';

type Connection = ReturnType<typeof connectFailFast>;

/** What every role of one process stands on, opened once. */
export interface Foundation {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** For what fails again and again while something is wrong: throttled, one count for the whole process. */
  readonly troubleLog: Log;
  readonly metrics: Metrics;
  /** What this process has counted since it last told the figures of all processes. */
  readonly tally: Tally;
  readonly resources: Resources;
  /** For records: fails fast. */
  readonly redis: Connection;
  /** A connection that waits for Redis to come back, for work that blocks on it; `owner` closes it. */
  readonly patient: (owner?: Resources) => Connection;
  readonly queues: Queues;
  readonly wake: Wake & BulkWake;
  /** Images below DATA_DIR; nothing is touched there before it is used. */
  readonly spool: DiskSpool;
  readonly due: Readonly<Record<QueueName, DueSet>>;
  /** How much work of a queue is due, and how long the oldest has been due or waiting, ms. */
  readonly backlogOf: (name: QueueName) => Promise<{ due: number; oldestAgeMs: number }>;
}

export interface FoundationOptions {
  readonly config: Config;
  readonly log: Log;
}

const READY_TIMEOUT_MS = 5000;

/** The log of a process: it hides every field that the contracts mark as personal data or secret. */
export function openLog(config: Config, file?: string): Log {
  const operations = Object.values<Operation>(OPERATIONS).flatMap(({ request, answer }) => [request, answer]);
  const routes = Object.values<Route>(ROUTES).flatMap(({ query, body, answer }) => [query, body, answer]);
  const schemas = [...operations, ...routes].filter((schema) => schema !== null && schema !== undefined);
  return createLog({
    level: config.logLevel,
    sensitiveNames: sensitiveFieldNames(schemas),
    ...(file === undefined ? {} : { file }),
  });
}

/**
 * Opens what all roles share. A Redis that cannot be reached is no reason not to start: the roles answer 503 and come
 * back with it, unless REDIS_STRICT is set.
 */
export async function openFoundation({ config, log }: FoundationOptions): Promise<Foundation> {
  const clock = systemClock;
  const resources = createResources(log);
  try {
    log.info('process.starting', configSummary(config));
    const url = config.redis.url ?? (await openEmbedded(config, { log, clock, resources }));
    const troubleLog = throttledLog(log, { clock, by: ['queue'] });
    const open = (name: string, connect: typeof connectFailFast, owner = resources) =>
      owner.add(name, connect(url, { log: troubleLog }), (connection) => connection.disconnect());
    const redis = open('redis', connectFailFast);
    const connection = open('redis queues', connectFailFast);
    const queues = resources.add(
      'queues',
      createQueues({ connection, prefix: PARTITION, clock, log: troubleLog }),
      (opened) => opened.close(),
    );
    await checkRedis(redis, config, log);
    const { tows, ...others } = createDueSets(redis);
    const tally = createTally();
    const metrics = createMetrics(tally);
    const due = { ...others, reports: tows };
    const backlogOf = async (name: QueueName) => {
      const [{ due: dueNow, oldestAgeMs }, oldestWaitMs] = await Promise.all([
        due[name].backlog(),
        queues.oldestWaitMs(name),
      ]);
      // What the poller has taken is not due for a while, but still waits for a worker.
      return { due: dueNow, oldestAgeMs: Math.max(oldestAgeMs, oldestWaitMs) };
    };
    const spool = createSpool({
      dataDir: config.dataDir,
      marker: createSpoolMarker(redis),
      keepMs: config.keep.violationsMs,
      clock,
      log: troubleLog,
    });
    watchConservation(metrics, createConservationStore(redis));
    watchSending(metrics, createSendingStore(redis, config.budgetsPerMinute));
    metrics.watch({
      name: 'towhook_spool_records_missing',
      help: 'Whether Redis lacks the records of a disk that was in use: 1 = they are missing.',
      labelNames: [],
      read: async () => [{ labels: {}, value: (await spool.alarm()) === null ? 0 : 1 }],
    });
    metrics.watch({
      name: 'towhook_queue_paused',
      help: 'Whether somebody has paused a queue: 1 = paused.',
      labelNames: ['queue'],
      read: () =>
        Promise.all(
          QUEUE_NAMES.map(async (queue) => {
            const isPaused = await queues.byName[queue].isPaused();
            return { labels: { queue }, value: isPaused ? 1 : 0 };
          }),
        ),
    });
    for (const name of QUEUE_NAMES) metrics.watchBacklog(name, () => backlogOf(name));
    return {
      config,
      clock,
      log,
      troubleLog,
      metrics,
      tally,
      resources,
      redis,
      patient: (owner) => open('redis patient', connectPatient, owner),
      queues,
      wake: createWake((queue) => nudge(redis, queue)),
      spool,
      due,
      backlogOf,
    };
  } catch (error) {
    await resources.closeAll();
    throw error;
  }
}

/** Starts the embedded Redis, or joins one that runs on the same DATA_DIR; returns its address. */
export async function openEmbedded(
  config: Config,
  tools: { log: Log; clock: Clock; resources: Resources },
): Promise<string> {
  const { log, clock, resources } = tools;
  if (config.isProduction) {
    throw new ConfigurationError([{ variable: 'REDIS_URL', rule: 'is required when NODE_ENV is production' }]);
  }
  const embedded = await startEmbeddedRedis({
    dataDir: config.dataDir,
    log,
    clock,
    lookup: { searchPath: config.searchPath, binary: config.redis.serverBinary },
  });
  resources.add('embedded redis', embedded, (opened) => opened.stop());
  return embedded.url;
}

async function checkRedis(redis: Connection, config: Config, log: Log): Promise<void> {
  try {
    await whenReady(redis, READY_TIMEOUT_MS);
  } catch (error) {
    if (config.redis.isStrict) throw error;
    log.error('redis.unreachable', { ...errorFacts(error), stack: undefined });
    // Data that this version must not touch is found as soon as Redis can be reached; the process ends then.
    redis.once('ready', () => void checkSchemaOf(redis, log));
    return;
  }
  await checkSchemaOf(redis, log);
  const faults = await redisFaults(redis).catch(() => []);
  for (const fault of faults) log.warn('redis.unsafe', { ...fault });
  if (faults.length > 0 && config.redis.isStrict) {
    throw new ConfigurationError(
      faults.map(({ setting, problem }) => ({
        variable: 'REDIS_URL',
        rule: `points to a Redis whose ${setting} ${problem}`,
      })),
    );
  }
}

/** Stores the version of the schema and migrates older data. Data of a later version is a fault of the configuration. */
async function checkSchemaOf(redis: Connection, log: Log): Promise<void> {
  try {
    const { before, after } = await prepareSchema(redis);
    if (before !== null && before !== after) log.info('redis.migrated', { before, after });
  } catch (error) {
    if (error instanceof SchemaTooNew || error instanceof UnexpectedReply) {
      throw new ConfigurationError([{ variable: 'REDIS_URL', rule: `is of no use to this version: ${error.message}` }]);
    }
    // A replica or a full Redis takes no write now; the next process that starts will store the version.
    log.warn('redis.schema_not_stored', { ...errorFacts(error), stack: undefined });
  }
}
