import { OPERATIONS, type Operation } from '../contracts/service/operations';
import { ROUTES } from '../contracts/operator-routes';
import type { Route } from '../contracts/routes/route';
import { sensitiveFieldNames } from '../domain/sensitive';
import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import { systemClock, type Clock } from '../platform/clock';
import { configSummary, ConfigurationError, type Config } from '../platform/config/config';
import { openDataKeys, type DataKeys } from '../platform/data-keys';
import { createLog, type Log } from '../platform/log/log';
import { errorFacts } from '../platform/errors';
import { throttledLog } from '../platform/log/log-throttle';
import { createMetrics, type Metrics } from '../platform/log/metrics';
import { createCounters, type Counters } from '../platform/log/counters';
import { createResources, type Resources } from '../platform/resources';
import type * as openTelemetryModule from '../platform/log/open-telemetry';
import { NO_TRACING, type Tracing } from '../platform/log/tracing';
import { createProxyNote, type ProxyNote } from '../platform/config/proxy-note';
import { repeat } from '../platform/timers';
import { backlogReader, readQueueView, type BacklogReader } from '../queue/queues';
import { createQueues, type Queues } from '../queue/queues';
import { createSpool, type DiskSpool } from '../spool';
import { outboxRateLimits } from '../store/service/budgets';
import { openAccess } from '../store/redis/access';
import { connectFailFast, connectPatient, READY_TIMEOUT_MS, whenReady, type Redis } from '../store/redis/connect';
import { createConservationStore } from '../store/ops/conservation';
import { openChangeFeed, type OpenFeed } from '../store/ops/changes';
import { createMetricsStore } from '../store/ops/metrics';
import { overdueReportSince } from '../store/tow/count-overdue';
import { createNotificationStore } from '../store/ops/notification-record';
import { createSchedules, type Schedule } from '../store/outbox/schedules';
import { openEmbedded } from '../embedded-redis/start';
import { PARTITION } from '../store/keys';
import { createProcessStore, HEARTBEAT_SETTINGS } from '../store/ops/processes';
import { createSendingStore } from '../store/service/sending';
import { recordsOf } from '../store/outbox/records';
import { ignoreUnconfirmed } from '../store/redis/replicas';
import { createSeenServiceStore } from '../store/service/seen-service';
import { createSpoolMarker } from '../store/ops/spool-marker';
import { createTaskStore } from '../store/ops/tasks';
import { createWebhookAnswerStore } from '../store/webhook/webhook-answers';
import type { Wake } from '../store/outbox/wake';
import { createHeartbeatGaps, type HeartbeatGaps } from '../workflow/ops/heartbeat';
import { createServiceObserver, type ServiceObserver } from '../workflow/service/observe-service';
import { watchInstallation } from '../workflow/ops/gauges';
import { opsStateReader, type InstallationStores, type ReadOpsState } from '../workflow/ops/ops-state';
import { orderKeyOf } from '../workflow/transaction-port';
import { createWebhookHealth, type WebhookHealth } from '../workflow/webhook/webhook-health';
import { checkDataKeysOf, watchDataKeys } from './data-keys';
import { watchStore } from './gauges';
import { watchMode, type ModeWatch } from './mode';
import { openRedisSettings, watchRedisSettings, type RedisSettingsReader } from './redis-settings';
import { checkSchemaOf, watchSchema, type SeenSchema } from './schema';

/** What all roles of a process share; opened once per process. */
export interface Foundation {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** For failures that repeat: throttled, with one throttle for the whole process. */
  readonly troubleLog: Log;
  /** Notes a proxy that is not trusted, once for all listeners. */
  readonly proxyNote: ProxyNote;
  readonly metrics: Metrics;
  /** Counted since the last heartbeat. */
  readonly counters: Counters;
  readonly tracing: Tracing;
  readonly resources: Resources;
  /** For records: a command fails at once while Redis is away. */
  readonly redis: Redis;
  readonly redisSettings: RedisSettingsReader;
  /** Opens a connection whose commands wait until Redis is back, for blocking reads and subscriptions. */
  readonly patient: (owner?: Resources) => Redis;
  readonly queues: Queues;
  /** Adds jobs for what a write makes due. */
  readonly wake: Wake;
  /** Images below DATA_DIR. Opening it does not touch the disk. */
  readonly spool: DiskSpool;
  /** What this process sees of the service. */
  readonly serviceObserver: ServiceObserver;
  /** The alarms about webhooks. */
  readonly webhookHealth: WebhookHealth;
  /** Reads what all alarms are derived from. */
  readonly opsState: ReadOpsState;
  /** Whether other processes that look silent can be taken for absent. */
  readonly heartbeatGaps: HeartbeatGaps;
  /** The mode of the installation, on which its processes agree. */
  readonly mode: ModeWatch;
  /** Null without DATA_KEYS_FILE. */
  readonly dataKeys: DataKeys | null;
  readonly schedules: Readonly<Record<QueueName, Schedule>>;
  readonly backlogOf: BacklogReader;
  /** Follows the stream of changes, with one blocking read for the whole process; opened when it is needed. */
  readonly changes: () => OpenFeed;
}

/** The log of a process. Fields that the contracts mark as sensitive are hidden. Writes to `file` if given. */
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
 * Opens what all roles share. A process starts even if Redis cannot be reached: it answers 503 until Redis is back, and
 * checks it then.
 *
 * @throws ConfigurationError when Redis refuses its database, when it holds data of a later version, when its data
 * needs another key of the same id, and when REDIS_STRICT finds unsafe settings.
 */
export async function openFoundation({ config, log }: { config: Config; log: Log }): Promise<Foundation> {
  const clock = systemClock;
  const resources = createResources(log);
  try {
    log.info('process.starting', configSummary(config));
    const { unknownVariables: variables } = config;
    if (variables.length > 0) log.warn('configuration.unknown_variables', { variables });
    const url = config.redis.url ?? (await openEmbedded(config, { log, resources }));
    const dataKeys = openDataKeys(config);
    const access = openAccess(config.redis, url, dataKeys);
    const troubleLog = throttledLog(log, { clock, by: ['queue'] });
    const tracing = resources.add('tracing', openTracing(config, troubleLog), (opened) => opened.stop());
    const open = (name: string, connect: typeof connectFailFast, owner = resources) =>
      owner.add(name, connect(access, { log: troubleLog }), (connection) => connection.disconnect());
    const redis = open('redis', connectFailFast);
    // On the connection of the records, so that Redis adds the job of a commit right after it.
    const queues = resources.add(
      'queues',
      createQueues({ connection: redis, prefix: PARTITION, clock, log: troubleLog }),
      (opened) => opened.close(),
    );
    const wake: Wake = (queue, refs) => {
      queues
        .add(queue, refs)
        .catch((error: unknown) => troubleLog.debug('job.not_added', { queue, ...errorFacts(error) }));
    };
    const records = recordsOf(redis, clock);
    records.logCircuits(log);
    records.wakeWith(wake);
    if (config.service.mode !== 'live') records.sendNothing();
    const redisSettings = openRedisSettings({ config, redis, log });
    const seenSchema = { isStored: false };
    await checkRedis(redis, { dataKeys, log, redisSettings, seenSchema });
    resources.add('redis settings', watchRedisSettings(redis, redisSettings, troubleLog), (opened) => opened.stop());
    resources.add('schema', watchSchema({ redis, clock, log: troubleLog }, seenSchema), (opened) => opened.stop());
    resources.add('data keys', watchDataKeys(redis, dataKeys, troubleLog), (opened) => opened.stop());
    const heartbeatGaps = createHeartbeatGaps(clock, HEARTBEAT_SETTINGS.silentAfterMs);
    const mode = resources.add('mode', await watchMode({ config, redis, heartbeatGaps, troubleLog }), (opened) =>
      opened.stop(),
    );
    const schedules = createSchedules(redis, outboxRateLimits(config.budgetsPerMinute));
    const counters = createCounters();
    const metrics = createMetrics(counters);
    const backlogOf = backlogReader(queues, schedules);
    const spool = createSpool({
      dataDir: config.dataDir,
      marker: createSpoolMarker(redis),
      keepMs: config.keep.violationsMs,
      minFreeBytes: config.images.totalBytesMax,
      keys: dataKeys,
      clock,
      log: troubleLog,
    });
    const [webhookAnswers, figures] = [createWebhookAnswerStore(redis), createMetricsStore(redis)];
    const { silenceIntervals } = config.webhook;
    const webhookHealth = createWebhookHealth({ answers: webhookAnswers, figures, silenceIntervals });
    const installation: InstallationStores = {
      sending: createSendingStore(redis, config.budgetsPerMinute),
      queues: () => Promise.all(QUEUE_NAMES.map((name) => readQueueView(queues, backlogOf, name))),
      conservation: createConservationStore(redis),
      processes: createProcessStore(redis),
      figures,
      tasks: createTaskStore(redis),
      overdueReport: (nowMs) => overdueReportSince(redis, config.rules.overdueAfter.reportMs, nowMs),
      spool,
      webhookAnswers,
      webhookHealth,
      notifications: createNotificationStore(redis),
      redisFaults: redisSettings.severeFaults,
    };
    let feed: OpenFeed | null = null;
    const patient = (owner?: Resources) => open('redis patient', connectPatient, owner);
    const changes = () =>
      (feed ??= resources.add('changes', openChangeFeed(redis, patient(), troubleLog), (opened) => opened.stop()));
    watchInstallation(metrics, installation, clock);
    watchStore({ clock, config, metrics, redis, redisSettings });
    return {
      config,
      clock,
      log,
      troubleLog,
      proxyNote: createProxyNote(log),
      metrics,
      counters,
      tracing,
      resources,
      redis,
      redisSettings,
      patient,
      queues,
      wake,
      spool,
      serviceObserver: openServiceObserver({ redis, clock, log: troubleLog, resources }),
      webhookHealth,
      opsState: opsStateReader(installation),
      heartbeatGaps,
      mode,
      dataKeys,
      schedules,
      backlogOf,
      changes,
    };
  } catch (error) {
    await resources.closeAll();
    throw error;
  }
}

/** OpenTelemetry is loaded only when there are traces to send. */
declare const require: (module: '../platform/log/open-telemetry') => typeof openTelemetryModule;

function openTracing({ tracing }: Config, log: Log): Tracing {
  const { endpoint } = tracing;
  if (endpoint === null) return NO_TRACING;
  return require('../platform/log/open-telemetry').openTelemetry({ ...tracing, endpoint, log });
}

const OBSERVED_EVERY_MS = 5000;

/** Collects what this process sees of the service, and adds it every few seconds to what all have seen. */
function openServiceObserver(tools: { redis: Redis; clock: Clock; log: Log; resources: Resources }): ServiceObserver {
  const observer = createServiceObserver();
  const store = createSeenServiceStore(tools.redis);
  const records = recordsOf(tools.redis);
  const flush = async () => {
    const seen = observer.take();
    if (seen !== null) await store.add(seen);
    for (let next = observer.takeDifference(); next !== null; next = observer.takeDifference()) {
      const { seen: difference, count } = next;
      try {
        const counting = records.transact(orderKeyOf('difference', difference.id), async (transaction) => {
          await transaction.recordDifference(difference, count);
        });
        // oxlint-disable-next-line eslint/no-await-in-loop
        await ignoreUnconfirmed(counting);
      } catch (error) {
        // Whether a write without a reply is done is unknown. A count that is too high is better than no task.
        observer.differed(difference, count);
        throw error;
      }
    }
  };
  const flushing = repeat({ name: 'observer', everyMs: OBSERVED_EVERY_MS, work: flush, log: tools.log });
  tools.resources.add('service observer', flushing, async (opened) => {
    await opened.stop();
    await flush().catch(() => {});
  });
  return observer;
}

async function checkRedis(
  redis: Redis,
  {
    dataKeys,
    log,
    redisSettings,
    seenSchema,
  }: Pick<Foundation, 'dataKeys' | 'log' | 'redisSettings'> & { readonly seenSchema: SeenSchema },
): Promise<void> {
  const checkData = async () => {
    await checkSchemaOf(redis, log, seenSchema);
    await checkDataKeysOf(redis, dataKeys, log);
  };
  try {
    await whenReady(redis, READY_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    log.error('redis.unreachable', { ...errorFacts(error), stack: undefined });
    // As soon as Redis can be reached, its data is checked. Data that this process must not use ends it.
    redis.once('ready', () => void checkData());
    return;
  }
  await checkData();
  await redisSettings.read().catch((error: unknown) => {
    // Settings that cannot be read now are judged when they are read next.
    if (error instanceof ConfigurationError) throw error;
  });
}
