import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { API_KEY_RULE, isSendableKey, type ServicePaths } from '../../domain/vocabulary';
import { missingForNotifications, notificationConfig } from './notification-variables';
import { redisContradictions, redisSettings } from './redis-variables';
import { signInFaults, signInSettings } from './sign-in-variables';
import {
  commandLineVariables,
  faultOfFile,
  readTextNow,
  secretFilesIn,
  secretVariablesIn,
  withSecretFiles,
  type ReadText,
} from './secret-files';
import { mistakenModes, unknownVariables } from './unknown-variables';
import { givenIn, hoursMs, minutesMs, quotedIn, weakSecrets, type Environment } from './variable-rules';
import { COMMAND_LINE_VARIABLES, VARIABLES } from './variables';

/** A wrong configuration: each fault names its variable and never shows the value. */
export class ConfigurationError extends Error {
  constructor(readonly faults: readonly { variable: string; rule: string }[]) {
    super(faults.map(({ variable, rule }) => `${variable} ${rule}`).join('\n'));
    this.name = 'ConfigurationError';
  }
}

/** The faults of a ConfigurationError; throws any other error. */
export function faultsOf(error: unknown): ConfigurationError['faults'] {
  if (error instanceof ConfigurationError) return error.faults;
  throw error;
}

/** The command line has an API key that cannot be sent; the environment has no other fault. */
export class ApiKeyUnusable extends ConfigurationError {}

export type Config = ReturnType<typeof shape>;

/**
 * As the `trust proxy` setting of Express: the proxies whose X-Forwarded-For and X-Forwarded-Proto are trusted; 0 =
 * none.
 */
export type TrustProxy = Config['trustProxy'];

/** PEM files of the connections to one server; null: none. */
export interface TlsFiles {
  /** Authorities that are trusted besides those of Node. */
  readonly caFile: string | null;
  readonly clientCertFile: string | null;
  readonly clientKeyFile: string | null;
}

/** How calls leave this machine; null: without it. */
export interface OutboundSettings extends TlsFiles {
  /** May have credentials. */
  readonly proxyUrl: string | null;
}

/** The address of the service, its credentials, and the way there. */
export interface ServiceAccess {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Replaces documented paths. */
  readonly paths: ServicePaths;
  readonly outbound: OutboundSettings;
}

/**
 * Reads and checks the environment and the files of secrets that it names. White space around a value is ignored, and
 * an empty value counts as absent.
 *
 * @throws ConfigurationError with every fault.
 */
export function loadConfig(environment: Environment = process.env, readText: ReadText = readTextNow): Config {
  const named = givenIn(environment);
  const { given, faults: unreadable } = withSecretFiles(named, readText);
  const files = [...mistakenModes(named), ...quotedIn(named, Object.keys(VARIABLES.shape)), ...unreadable];
  const parsed = VARIABLES.safeParse(given);
  const wrong = parsed.success ? [...missingForNotifications(given), ...signInFaults(given)] : faultsIn(parsed.error);
  const values = [...wrong, ...contradictions(given), ...weakSecrets(given)];
  const isNew = ({ variable }: Faults[number]) => !files.some((file) => file.variable === variable);
  const faults = [...files, ...values.map((fault) => faultOfFile(fault, named)).filter(isNew)];
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults);
  return shape(parsed.data, { environment, secretVariables: secretVariablesIn(named) });
}

/** What verifies webhooks. */
export type ReceiverSecrets = Pick<Config['webhook'], 'secrets' | 'sharedSecret'>;

/** Whether secrets of webhooks are in files. */
export function hasSecretFiles({ webhook }: Pick<Config, 'webhook'>): boolean {
  return secretFilesIn(webhook.variables).length > 0;
}

/** Reads the files of webhook secrets again. @throws ConfigurationError with every fault. */
export async function reloadWebhookSecrets({ webhook }: Pick<Config, 'webhook'>): Promise<ReceiverSecrets> {
  const texts = await Promise.all(
    secretFilesIn(webhook.variables).map(
      async (path) => [path, await readFile(path, 'utf8').catch(() => null)] as const,
    ),
  );
  const read = new Map(texts);
  const { secrets, sharedSecret } = loadConfig(webhook.variables, (path) => read.get(path) ?? null).webhook;
  return { secrets, sharedSecret };
}

/** The variables of the command line. Faults in other variables do not affect it. */
export interface CommandLineSettings {
  /** The address of the console. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly wantsColor: boolean;
}

/** Reads and checks them. @throws ConfigurationError with every fault, ApiKeyUnusable if only the key is wrong. */
export function loadCommandLineSettings(environment: Environment = process.env): CommandLineSettings {
  const named = givenIn(environment);
  const { given, faults: files } = commandLineVariables(named);
  const faults = [...quotedIn(given, Object.keys(COMMAND_LINE_VARIABLES.shape)), ...files];
  const parsed = COMMAND_LINE_VARIABLES.safeParse(given);
  if (!parsed.success) throw new ConfigurationError([...faults, ...faultsIn(parsed.error)]);
  if (faults.length > 0) throw new ConfigurationError(faults);
  const env = parsed.data;
  const variable = env.TOWHOOK_API_KEY === undefined ? 'BOOTSTRAP_API_KEY' : 'TOWHOOK_API_KEY';
  const apiKey = env[variable] ?? null;
  if (apiKey !== null && !isSendableKey(apiKey)) {
    throw new ApiKeyUnusable([faultOfFile({ variable, rule: API_KEY_RULE }, named)]);
  }
  return {
    url: env.TOWHOOK_URL ?? localAddress(env.CONSOLE_HOST ?? env.HOST, env.CONSOLE_PORT),
    apiKey,
    wantsColor: env.NO_COLOR === undefined,
  };
}

/** The address of a listener on this machine; one on all addresses is reached through the loopback address. */
export function localAddress(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${reached}:${port}`;
}

/** The environment without these variables, to check the others when these are wrong. */
export function environmentWithout(variables: readonly string[], environment: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !variables.includes(name)));
}

/** The variables that describe this machine, for programs that set all other variables themselves. */
export function machineEnvironment(): Environment {
  return { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
}

/** The access to the service; null unless all of it is configured. */
export function serviceAccess({ service }: Config): ServiceAccess | null {
  const { baseUrl, clientId, clientSecret, paths, outbound } = service;
  if (baseUrl === null || clientId === null || clientSecret === null) return null;
  return { baseUrl, clientId, clientSecret, paths, outbound };
}

/** The access to the service. @throws ConfigurationError that names the missing variables. */
export function requireService(config: Config): ServiceAccess {
  const access = serviceAccess(config);
  if (access !== null) return access;
  const { baseUrl, clientId, clientSecret } = config.service;
  const missing = [
    ['SERVICE_BASE_URL', baseUrl],
    ['SERVICE_CLIENT_ID', clientId],
    ['SERVICE_CLIENT_SECRET', clientSecret],
  ] as const;
  throw new ConfigurationError(
    missing
      .filter(([, value]) => value === null)
      .map(([variable]) => ({ variable, rule: 'is required by this role; `npm run demo` needs no configuration' })),
  );
}

/** The settings that are logged at start; of secrets only whether they are set. */
export function configSummary(config: Config): Record<string, unknown> {
  return {
    service_base_url: config.service.baseUrl,
    service_paths: config.service.paths,
    service_proxy_configured: config.service.outbound.proxyUrl !== null,
    service_ca_configured: config.service.outbound.caFile !== null,
    service_client_certificate_configured: config.service.outbound.clientCertFile !== null,
    service_mode: config.service.mode,
    service_credentials_configured: config.service.clientId !== null && config.service.clientSecret !== null,
    redis: config.redis.url === null ? 'embedded' : 'configured',
    redis_tls: config.redis.url?.startsWith('rediss://') ?? false,
    redis_sentinels: config.redis.sentinels.length,
    data_dir: config.dataDir,
    webhook_signatures_configured: Object.values(config.webhook.secrets).some((secrets) => secrets.length > 0),
    webhook_shared_secret_configured: config.webhook.sharedSecret !== null,
    notify_webhook_configured: config.notifications.settings.webhookUrl !== null,
    notify_mail_configured: config.notifications.mail !== null,
    bootstrap_api_key_configured: config.bootstrapApiKey !== null,
    oidc_issuer: config.signIn.oidc?.issuer ?? null,
    console_key_sign_in: config.signIn.withKeys,
    vehicle_types: config.rules.vehicleTypes,
    payment_statuses: config.rules.paymentStatuses,
    release_requires_payment: config.rules.releaseRequiresPayment,
  };
}

function faultsIn(error: z.ZodError): Faults {
  return error.issues.map((issue) => ({ variable: String(issue.path[0] ?? '?'), rule: ruleOf(issue) }));
}

type Variables = z.output<typeof VARIABLES>;

interface Surroundings {
  readonly environment: Environment;
  readonly secretVariables: Environment;
}

function shape(env: Variables, { environment, secretVariables }: Surroundings) {
  const secretsFor = (own: string[]) => (own.length > 0 ? own : env.WEBHOOK_SECRETS);
  return {
    isProduction: env.NODE_ENV === 'production',
    service: {
      baseUrl: env.SERVICE_BASE_URL ?? null,
      clientId: env.SERVICE_CLIENT_ID ?? null,
      clientSecret: env.SERVICE_CLIENT_SECRET ?? null,
      paths: env.SERVICE_PATHS,
      outbound: {
        proxyUrl: env.SERVICE_PROXY_URL ?? null,
        caFile: env.SERVICE_CA_FILE ?? null,
        clientCertFile: env.SERVICE_CLIENT_CERT_FILE ?? null,
        clientKeyFile: env.SERVICE_CLIENT_KEY_FILE ?? null,
      },
      envelopeCode: env.SERVICE_ENVELOPE_CODE,
      readsLeniently: env.SERVICE_LENIENT_HTTP,
      mode: env.SERVICE_MODE,
      timeoutMs: env.SERVICE_TIMEOUT_MS,
      uploadTimeoutMs: env.SERVICE_UPLOAD_TIMEOUT_MS,
    },
    redis: redisSettings(env),
    dataDir: env.DATA_DIR,
    /** Null: there are no data keys. */
    dataKeysFile: env.DATA_KEYS_FILE ?? null,
    receiver: { host: env.RECEIVER_HOST ?? env.HOST, port: env.RECEIVER_PORT },
    console: { host: env.CONSOLE_HOST ?? env.HOST, port: env.CONSOLE_PORT },
    simulator: {
      host: env.HOST,
      port: env.SIMULATOR_PORT,
      webhookUrl: env.SIMULATOR_WEBHOOK_URL ?? null,
      /** A name or a file. */
      profile: env.SIMULATOR_PROFILE,
      /** From a reported violation of a type that is towed to its tow request. */
      assessAfterMs: env.SIMULATOR_ASSESS_AFTER_MS,
    },
    ops: { host: env.HOST, port: env.OPS_PORT },
    webhook: {
      secrets: {
        tow_request: secretsFor(env.WEBHOOK_SECRETS_TOW_REQUEST),
        tow_invoice: secretsFor(env.WEBHOOK_SECRETS_TOW_INVOICE),
      },
      sharedSecret:
        env.WEBHOOK_SHARED_SECRET !== undefined && env.WEBHOOK_SHARED_SECRET_HEADER !== undefined
          ? { header: env.WEBHOOK_SHARED_SECRET_HEADER, values: env.WEBHOOK_SHARED_SECRET }
          : null,
      /** The variables that these depend on, to read their files again. */
      variables: secretVariables,
      /** Whether production accepts unverified webhooks; development always does. */
      acceptsUnverified: env.WEBHOOK_UNVERIFIED === 'accept',
      bodyLimitBytes: env.WEBHOOK_BODY_LIMIT_BYTES,
      ratePerMinute: env.WEBHOOK_RATE_PER_MINUTE,
      /** Missing webhooks after which an alarm is raised, in usual intervals; 0 = never. */
      silenceIntervals: env.WEBHOOK_SILENCE_INTERVALS,
    },
    bootstrapApiKey: env.BOOTSTRAP_API_KEY ?? null,
    openPaths: env.CONSOLE_OPEN_PATHS,
    signIn: signInSettings(env),
    trustProxy: env.TRUST_PROXY ?? 0,
    notifications: notificationConfig(env),
    policy: {
      retryBaseMs: env.RETRY_BASE_MS,
      retryCapMs: env.RETRY_CAP_MS,
      notFoundRetries: env.NOT_FOUND_RETRIES,
      notFoundRetryMs: env.NOT_FOUND_RETRY_MS,
      unknownGraceMs: env.UNKNOWN_GRACE_MS,
      giveUpAfterMs: hoursMs(env.REPORT_GIVE_UP_AFTER_HOURS),
    },
    /** Calls per minute of all processes together; 0 = unlimited. */
    budgetsPerMinute: {
      auth: env.BUDGET_AUTH_PER_MINUTE,
      site: env.BUDGET_SITE_PER_MINUTE,
      violations: env.BUDGET_VIOLATIONS_PER_MINUTE,
      tickets: env.BUDGET_TICKETS_PER_MINUTE,
      tow: env.BUDGET_TOW_PER_MINUTE,
    },
    followsLimitHeaders: env.SERVICE_LIMIT_HEADERS === 'follow',
    subscriptions: {
      allowsPrivate: env.SUBSCRIPTION_PRIVATE_ADDRESSES === 'allow',
      proxyUrl: env.SUBSCRIPTION_PROXY_URL ?? null,
      giveUpMs: hoursMs(env.SUBSCRIPTION_GIVE_UP_HOURS),
    },
    /** How long finished records stay in Redis before they are archived. */
    keep: {
      deliveriesMs: hoursMs(env.KEEP_DELIVERIES_HOURS),
      towsMs: hoursMs(env.KEEP_TOWS_HOURS),
      violationsMs: hoursMs(env.KEEP_VIOLATIONS_HOURS),
      auditMs: hoursMs(env.KEEP_AUDIT_HOURS),
      changesMs: hoursMs(env.KEEP_CHANGES_HOURS),
    },
    rules: {
      vehicleTypes: env.VEHICLE_TYPES,
      paymentStatuses: env.PAYMENT_STATUSES,
      freeDays: env.FREE_DAYS,
      releaseRequiresPayment: env.RELEASE_REQUIRES_PAYMENT,
      /** After how long a tow is shown as overdue; 0 = never. */
      overdueAfter: {
        requestedMs: minutesMs(env.OVERDUE_REQUESTED_MINUTES),
        startedMs: minutesMs(env.OVERDUE_STARTED_MINUTES),
        reportMs: minutesMs(env.OVERDUE_REPORT_MINUTES),
      },
    },
    violations: {
      api: env.VIOLATION_API,
      /** How long a tow request may take to prove a violation whose answer was lost. */
      proofMs: hoursMs(env.VIOLATION_PROOF_HOURS),
      /** Whether the service is asked for an active ticket before a violation that depends on one is sent. */
      checksTicket: env.VIOLATION_TICKET_CHECK,
    },
    tracing: {
      endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT ?? null,
      serviceName: env.OTEL_SERVICE_NAME,
      ratio: env.OTEL_TRACES_SAMPLER_ARG,
    },
    images: { totalBytesMax: env.IMAGES_TOTAL_BYTES_MAX, keepsOriginals: env.IMAGES_KEEP_ORIGINALS },
    /** How long answers about capacities and tickets are reused. */
    lookupCacheMs: env.LOOKUP_CACHE_MS,
    workerConcurrency: env.WORKER_CONCURRENCY,
    stopDelayMs: env.STOP_DELAY_MS,
    stopGraceMs: env.STOP_GRACE_MS,
    workerStalledMs: env.WORKER_STALLED_MS,
    logLevel: env.LOG_LEVEL,
    unknownVariables: unknownVariables(environment),
    /** PATH, to find programs. */
    searchPath: environment['PATH'] ?? '',
    /** Whether the usual variables of this machine name a proxy. towhook does not use them. */
    namesProxy: Boolean(environment['HTTPS_PROXY']?.trim() || environment['https_proxy']?.trim()),
  };
}

type Faults = { variable: string; rule: string }[];

/** Faults that only a combination of variables shows. */
function contradictions(env: Environment): Faults {
  const faults: Faults = redisContradictions(env);
  if ((env['WEBHOOK_SHARED_SECRET'] === undefined) !== (env['WEBHOOK_SHARED_SECRET_HEADER'] === undefined)) {
    faults.push({
      variable: 'WEBHOOK_SHARED_SECRET',
      rule: 'and WEBHOOK_SHARED_SECRET_HEADER must be set together',
    });
  }
  if ((env['SERVICE_CLIENT_CERT_FILE'] === undefined) !== (env['SERVICE_CLIENT_KEY_FILE'] === undefined)) {
    faults.push({ variable: 'SERVICE_CLIENT_CERT_FILE', rule: 'and SERVICE_CLIENT_KEY_FILE must be set together' });
  }
  // Else changes would be gone before a receiver is given up.
  const hoursOf = (variable: 'SUBSCRIPTION_GIVE_UP_HOURS' | 'KEEP_CHANGES_HOURS', usual: number) =>
    Number(env[variable]?.trim() || usual);
  const keptHours = hoursOf('KEEP_CHANGES_HOURS', 168);
  if (keptHours >= 0 && hoursOf('SUBSCRIPTION_GIVE_UP_HOURS', 72) >= keptHours) {
    faults.push({ variable: 'SUBSCRIPTION_GIVE_UP_HOURS', rule: 'must be less than KEEP_CHANGES_HOURS' });
  }
  return faults;
}

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type')
    return `must be ${issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big' && issue.message.startsWith('Too big'))
    return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
  return issue.message;
}
