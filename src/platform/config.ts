import type { z } from 'zod';
import { API_KEY_RULE, isSendableKey } from '../domain/api-key';
import { COMMAND_LINE_VARIABLES, VARIABLES } from './variables';
import { weakSecrets } from './weak-secrets';

/** The configuration is wrong: every fault names its variable, and never shows its value. */
export class ConfigurationError extends Error {
  constructor(readonly faults: readonly { variable: string; rule: string }[]) {
    super(faults.map(({ variable, rule }) => `${variable} ${rule}`).join('\n'));
    this.name = 'ConfigurationError';
  }
}

/** The API key that the command line would send cannot be sent. The environment has no other fault. */
export class ApiKeyUnusable extends ConfigurationError {}

export type Config = ReturnType<typeof shape>;

/** As the `trust proxy` of Express: whose X-Forwarded-For and X-Forwarded-Proto are believed; 0 = of none. */
export type TrustProxy = Config['trustProxy'];

/** How to reach the service; what the roles that call it cannot start without. */
export interface ServiceAccess {
  readonly baseUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Reads and checks the environment once. Throws ConfigurationError with every fault. Empty text counts as absent. */
export function loadConfig(environment: Environment = process.env): Config {
  const given = givenIn(environment);
  const parsed = VARIABLES.safeParse(given);
  const faults = [...(parsed.success ? [] : faultsIn(parsed.error)), ...contradictions(given), ...weakSecrets(given)];
  if (!parsed.success || faults.length > 0) throw new ConfigurationError(faults);
  return shape(parsed.data, environment['PATH'] ?? '');
}

/** What the command line reads of the environment; it works beside a configuration that is wrong elsewhere. */
export interface CommandLineSettings {
  /** The console that is talked to. */
  readonly url: string;
  readonly apiKey: string | null;
  readonly wantsColor: boolean;
}

/** Reads and checks it. Throws ConfigurationError with every fault, ApiKeyUnusable if only the key is wrong. */
export function loadCommandLineSettings(environment: Environment = process.env): CommandLineSettings {
  const parsed = COMMAND_LINE_VARIABLES.safeParse(givenIn(environment));
  if (!parsed.success) throw new ConfigurationError(faultsIn(parsed.error));
  const env = parsed.data;
  const variable = env.TOWHOOK_API_KEY === undefined ? 'BOOTSTRAP_API_KEY' : 'TOWHOOK_API_KEY';
  const apiKey = env[variable] ?? null;
  if (apiKey !== null && !isSendableKey(apiKey)) throw new ApiKeyUnusable([{ variable, rule: API_KEY_RULE }]);
  return {
    url: env.TOWHOOK_URL ?? localAddress(env.CONSOLE_HOST ?? env.HOST, env.CONSOLE_PORT),
    apiKey,
    wantsColor: env.NO_COLOR === undefined,
  };
}

/** How a listener of this machine is reached: one on all addresses is reached on this machine's own. */
export function localAddress(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host);
  return `http://${reached}:${port}`;
}

/** The environment without these variables; for what can be looked at beside a fault in them. */
export function environmentWithout(
  variables: readonly string[],
  environment: Environment = process.env,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !variables.includes(name)));
}

/** What of the environment describes this machine and not towhook; for programs that configure towhook themselves. */
export function machineEnvironment(): Readonly<Record<string, string | undefined>> {
  return { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
}

/** The access to the service; null unless all of it is configured. */
export function serviceAccess({ service }: Config): ServiceAccess | null {
  const { baseUrl, clientId, clientSecret } = service;
  return baseUrl !== null && clientId !== null && clientSecret !== null ? { baseUrl, clientId, clientSecret } : null;
}

/** The access to the service, or a ConfigurationError that names what is missing. */
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

/** The settings worth a line at start: secrets only as whether they are set. */
export function configSummary(config: Config): Record<string, unknown> {
  return {
    service_base_url: config.service.baseUrl,
    service_credentials_configured: config.service.clientId !== null && config.service.clientSecret !== null,
    redis: config.redis.url === null ? 'embedded' : 'configured',
    data_dir: config.dataDir,
    webhook_signatures_configured: Object.values(config.webhook.secrets).some((secrets) => secrets.length > 0),
    webhook_shared_secret_configured: config.webhook.sharedSecret !== null,
    bootstrap_api_key_configured: config.bootstrapApiKey !== null,
    vehicle_types: config.rules.vehicleTypes,
    payment_statuses: config.rules.paymentStatuses,
    release_requires_payment: config.rules.releaseRequiresPayment,
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

function givenIn(environment: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim()));
}

function faultsIn(error: z.ZodError): Faults {
  return error.issues.map((issue) => ({ variable: String(issue.path[0] ?? '?'), rule: ruleOf(issue) }));
}

type Variables = z.output<typeof VARIABLES>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function shape(env: Variables, searchPath: string) {
  const secretsFor = (own: string[]) => (own.length > 0 ? own : env.WEBHOOK_SECRETS);
  return {
    isProduction: env.NODE_ENV === 'production',
    service: {
      baseUrl: env.SERVICE_BASE_URL ?? null,
      clientId: env.SERVICE_CLIENT_ID ?? null,
      clientSecret: env.SERVICE_CLIENT_SECRET ?? null,
      timeoutMs: env.SERVICE_TIMEOUT_MS,
    },
    redis: { url: env.REDIS_URL ?? null, isStrict: env.REDIS_STRICT, serverBinary: env.REDIS_SERVER_BIN ?? null },
    dataDir: env.DATA_DIR,
    receiver: { host: env.RECEIVER_HOST ?? env.HOST, port: env.RECEIVER_PORT },
    console: { host: env.CONSOLE_HOST ?? env.HOST, port: env.CONSOLE_PORT },
    simulator: {
      host: env.HOST,
      port: env.SIMULATOR_PORT,
      webhookUrl: env.SIMULATOR_WEBHOOK_URL ?? null,
      /** From a reported violation that can be towed to its tow request. */
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
          ? { header: env.WEBHOOK_SHARED_SECRET_HEADER, value: env.WEBHOOK_SHARED_SECRET }
          : null,
      /** Whether webhooks without a proof are taken in production; in development they always are. */
      acceptsUnverified: env.WEBHOOK_UNVERIFIED === 'accept',
      bodyLimitBytes: env.WEBHOOK_BODY_LIMIT_BYTES,
      ratePerMinute: env.WEBHOOK_RATE_PER_MINUTE,
    },
    bootstrapApiKey: env.BOOTSTRAP_API_KEY ?? null,
    openPaths: env.CONSOLE_OPEN_PATHS,
    trustProxy: env.TRUST_PROXY ?? 0,
    policy: {
      retryBaseMs: env.RETRY_BASE_MS,
      retryCapMs: env.RETRY_CAP_MS,
      notFoundRetries: env.NOT_FOUND_RETRIES,
      notFoundRetryMs: env.NOT_FOUND_RETRY_MS,
      unknownGraceMs: env.UNKNOWN_GRACE_MS,
      giveUpAfterMs: env.REPORT_GIVE_UP_AFTER_HOURS * HOUR_MS,
    },
    /** Calls per minute that all processes together may make; 0 = any number. */
    budgetsPerMinute: {
      auth: env.BUDGET_AUTH_PER_MINUTE,
      site: env.BUDGET_SITE_PER_MINUTE,
      violations: env.BUDGET_VIOLATIONS_PER_MINUTE,
      tickets: env.BUDGET_TICKETS_PER_MINUTE,
      tow: env.BUDGET_TOW_PER_MINUTE,
    },
    /** How long what is finished stays in Redis before it goes to the archive. */
    keep: {
      deliveriesMs: env.KEEP_DELIVERIES_HOURS * HOUR_MS,
      towsMs: env.KEEP_TOWS_HOURS * HOUR_MS,
      violationsMs: env.KEEP_VIOLATIONS_HOURS * HOUR_MS,
      auditMs: env.KEEP_AUDIT_HOURS * HOUR_MS,
    },
    rules: {
      vehicleTypes: env.VEHICLE_TYPES,
      paymentStatuses: env.PAYMENT_STATUSES,
      freeDays: env.FREE_DAYS,
      releaseRequiresPayment: env.RELEASE_REQUIRES_PAYMENT,
      /** After how long people are shown that a tow stands still; 0 = never. */
      overdueAfter: {
        requestedMs: env.OVERDUE_REQUESTED_MINUTES * MINUTE_MS,
        startedMs: env.OVERDUE_STARTED_MINUTES * MINUTE_MS,
        reportMs: env.OVERDUE_REPORT_MINUTES * MINUTE_MS,
      },
    },
    violations: {
      api: env.VIOLATION_API,
      /** How long a tow request may take to prove a violation whose answer was lost. */
      proofMs: env.VIOLATION_PROOF_HOURS * HOUR_MS,
      /** Whether an active ticket is looked for before a violation that depends on one is sent. */
      checksTicket: env.VIOLATION_TICKET_CHECK,
    },
    /** How long an answer about a zone's capacity or a vehicle's ticket serves others who ask the same. */
    lookupCacheMs: env.LOOKUP_CACHE_MS,
    workerConcurrency: env.WORKER_CONCURRENCY,
    stopGraceMs: env.STOP_GRACE_MS,
    workerStandstillMs: env.WORKER_STANDSTILL_MS,
    logLevel: env.LOG_LEVEL,
    /** Where programs are looked for, as the shell does. */
    searchPath,
  };
}

type Faults = { variable: string; rule: string }[];

/** Variables that are wrong only together, as far as their presence tells. */
function contradictions(env: Readonly<Record<string, string | undefined>>): Faults {
  const faults: Faults = [];
  if ((env['WEBHOOK_SHARED_SECRET'] === undefined) !== (env['WEBHOOK_SHARED_SECRET_HEADER'] === undefined)) {
    faults.push({
      variable: 'WEBHOOK_SHARED_SECRET',
      rule: 'and WEBHOOK_SHARED_SECRET_HEADER must be set together',
    });
  }
  return faults;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type')
    return `must be ${issue.expected === 'int' ? 'a whole number' : `a ${issue.expected}`}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) return `must be at least ${issue.minimum}`;
  if (issue.code === 'too_big' && issue.message.startsWith('Too big')) return `must be at most ${issue.maximum}`;
  return issue.message;
}
