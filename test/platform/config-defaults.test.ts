import { PAGE_ENTRIES } from '../../src/console/page-table';
import {
  configSummary,
  loadCommandLineSettings,
  loadConfig,
  machineEnvironment,
  requireService,
  type Config,
} from '../../src/platform/config/config';
import { VARIABLES } from '../../src/platform/config/variables';

const defaults = loadConfig({});

/** Written by hand, so that a changed default is noticed: variable, its place in the configuration, default. */
const DEFAULTS: [variable: string, read: (config: Config) => unknown, value: unknown][] = [
  ['SERVICE_BASE_URL', ({ service }) => service.baseUrl, null],
  ['SERVICE_CLIENT_ID', ({ service }) => service.clientId, null],
  ['SERVICE_CLIENT_SECRET', ({ service }) => service.clientSecret, null],
  ['SERVICE_PATHS', ({ service }) => service.paths, {}],
  ['SERVICE_PROXY_URL', ({ service }) => service.outbound.proxyUrl, null],
  ['SERVICE_CA_FILE', ({ service }) => service.outbound.caFile, null],
  ['SERVICE_CLIENT_CERT_FILE', ({ service }) => service.outbound.clientCertFile, null],
  ['SERVICE_CLIENT_KEY_FILE', ({ service }) => service.outbound.clientKeyFile, null],
  ['SERVICE_ENVELOPE_CODE', ({ service }) => service.envelopeCode, 'refusal'],
  ['SERVICE_LENIENT_HTTP', ({ service }) => service.readsLeniently, false],
  ['SERVICE_MODE', ({ service }) => service.mode, 'live'],
  ['REDIS_URL', ({ redis }) => redis.url, null],
  ['REDIS_PASSWORD', ({ redis }) => redis.password, null],
  ['REDIS_CA_FILE', ({ redis }) => redis.tls.caFile, null],
  ['REDIS_CLIENT_CERT_FILE', ({ redis }) => redis.tls.clientCertFile, null],
  ['REDIS_CLIENT_KEY_FILE', ({ redis }) => redis.tls.clientKeyFile, null],
  ['REDIS_TLS_SERVER_NAME', ({ redis }) => redis.tls.serverName, null],
  ['REDIS_SENTINELS', ({ redis }) => redis.sentinels, []],
  ['REDIS_SENTINEL_PASSWORD', ({ redis }) => redis.sentinelPassword, null],
  ['REDIS_MIN_REPLICAS', ({ redis }) => redis.minReplicas, 0],
  ['REDIS_PERSISTENCE', ({ redis }) => redis.trustsPersistence, false],
  ['REDIS_STRICT', ({ redis }) => redis.isStrict, false],
  ['DATA_DIR', ({ dataDir }) => dataDir, './data'],
  ['DATA_KEYS_FILE', ({ dataKeysFile }) => dataKeysFile, null],
  ['HOST', ({ ops }) => ops.host, '127.0.0.1'],
  ['RECEIVER_HOST', ({ receiver }) => receiver.host, '127.0.0.1'],
  ['CONSOLE_HOST', (config) => config.console.host, '127.0.0.1'],
  ['RECEIVER_PORT', ({ receiver }) => receiver.port, 3000],
  ['CONSOLE_PORT', (config) => config.console.port, 3001],
  ['SIMULATOR_PORT', ({ simulator }) => simulator.port, 3002],
  ['OPS_PORT', ({ ops }) => ops.port, 0],
  ['WEBHOOK_SILENCE_INTERVALS', ({ webhook }) => webhook.silenceIntervals, 10],
  ['WEBHOOK_SECRETS', ({ webhook }) => webhook.secrets, { tow_request: [], tow_invoice: [] }],
  ['WEBHOOK_SECRETS_TOW_REQUEST', ({ webhook }) => webhook.secrets.tow_request, []],
  ['WEBHOOK_SECRETS_TOW_INVOICE', ({ webhook }) => webhook.secrets.tow_invoice, []],
  ['WEBHOOK_SHARED_SECRET', ({ webhook }) => webhook.sharedSecret, null],
  ['WEBHOOK_SHARED_SECRET_HEADER', ({ webhook }) => webhook.sharedSecret, null],
  ['WEBHOOK_UNVERIFIED', ({ webhook }) => webhook.acceptsUnverified, false],
  ['BOOTSTRAP_API_KEY', ({ bootstrapApiKey }) => bootstrapApiKey, null],
  ['CONSOLE_KEY_SIGN_IN', ({ signIn }) => signIn.withKeys, true],
  ['OIDC_ISSUER', ({ signIn }) => signIn.oidc, null],
  ['WEBHOOK_BODY_LIMIT_BYTES', ({ webhook }) => webhook.bodyLimitBytes, 131_072],
  ['SERVICE_TIMEOUT_MS', ({ service }) => service.timeoutMs, 10_000],
  ['SERVICE_UPLOAD_TIMEOUT_MS', ({ service }) => service.uploadTimeoutMs, 120_000],
  ['NOTIFY_WEBHOOK_URL', ({ notifications }) => notifications.settings.webhookUrl, null],
  ['NOTIFY_WEBHOOK_SECRET', ({ notifications }) => notifications.webhook.secret, null],
  ['NOTIFY_FORMAT', ({ notifications }) => notifications.webhook.format, 'standard'],
  ['NOTIFY_PROXY_URL', ({ notifications }) => notifications.webhook.proxyUrl, null],
  ['NOTIFY_CA_FILE', ({ notifications }) => notifications.webhook.caFile, null],
  ['NOTIFY_SMTP_URL', ({ notifications }) => notifications.mail, null],
  ['NOTIFY_SMTP_CA_FILE', ({ notifications }) => notifications.mail, null],
  ['NOTIFY_MAIL_FROM', ({ notifications }) => notifications.mail, null],
  ['NOTIFY_MAIL_TO', ({ notifications }) => notifications.settings.mailTo, []],
  ['NOTIFY_SEVERITIES', ({ notifications }) => notifications.settings.severities, ['bad', 'wait']],
  ['NOTIFY_REMIND_HOURS', ({ notifications }) => notifications.settings.remindMs, 86_400_000],
  ['NOTIFY_MUTED_ALARMS', ({ notifications }) => notifications.settings.mutedAlarms, []],
  ['NOTIFY_LANGUAGE', ({ notifications }) => notifications.settings.language, 'en'],
  ['RETRY_BASE_MS', ({ policy }) => policy.retryBaseMs, 1000],
  ['RETRY_CAP_MS', ({ policy }) => policy.retryCapMs, 300_000],
  ['NOT_FOUND_RETRIES', ({ policy }) => policy.notFoundRetries, 3],
  ['NOT_FOUND_RETRY_MS', ({ policy }) => policy.notFoundRetryMs, 5000],
  ['UNKNOWN_GRACE_MS', ({ policy }) => policy.unknownGraceMs, 15_000],
  ['REPORT_GIVE_UP_AFTER_HOURS', ({ policy }) => policy.giveUpAfterMs, 172_800_000],
  ['BUDGET_AUTH_PER_MINUTE', ({ budgetsPerMinute }) => budgetsPerMinute.auth, 20],
  ['BUDGET_SITE_PER_MINUTE', ({ budgetsPerMinute }) => budgetsPerMinute.site, 30],
  ['BUDGET_VIOLATIONS_PER_MINUTE', ({ budgetsPerMinute }) => budgetsPerMinute.violations, 20],
  ['BUDGET_TICKETS_PER_MINUTE', ({ budgetsPerMinute }) => budgetsPerMinute.tickets, 40],
  ['BUDGET_TOW_PER_MINUTE', ({ budgetsPerMinute }) => budgetsPerMinute.tow, 0],
  ['SERVICE_LIMIT_HEADERS', ({ followsLimitHeaders }) => followsLimitHeaders, true],
  ['OVERDUE_REQUESTED_MINUTES', ({ rules }) => rules.overdueAfter.requestedMs, 2_700_000],
  ['OVERDUE_STARTED_MINUTES', ({ rules }) => rules.overdueAfter.startedMs, 14_400_000],
  ['OVERDUE_REPORT_MINUTES', ({ rules }) => rules.overdueAfter.reportMs, 900_000],
  ['WORKER_STALLED_MS', ({ workerStalledMs }) => workerStalledMs, 60_000],
  ['KEEP_DELIVERIES_HOURS', ({ keep }) => keep.deliveriesMs, 604_800_000],
  ['KEEP_TOWS_HOURS', ({ keep }) => keep.towsMs, 2_592_000_000],
  ['KEEP_VIOLATIONS_HOURS', ({ keep }) => keep.violationsMs, 2_592_000_000],
  ['KEEP_AUDIT_HOURS', ({ keep }) => keep.auditMs, 2_592_000_000],
  ['SUBSCRIPTION_PRIVATE_ADDRESSES', ({ subscriptions }) => subscriptions.allowsPrivate, false],
  ['SUBSCRIPTION_PROXY_URL', ({ subscriptions }) => subscriptions.proxyUrl, null],
  ['SUBSCRIPTION_GIVE_UP_HOURS', ({ subscriptions }) => subscriptions.giveUpMs, 259_200_000],
  ['KEEP_CHANGES_HOURS', ({ keep }) => keep.changesMs, 604_800_000],
  ['VEHICLE_TYPES', ({ rules }) => rules.vehicleTypes, ['HEAVY']],
  ['PAYMENT_STATUSES', ({ rules }) => rules.paymentStatuses, ['PAID']],
  ['FREE_DAYS', ({ rules }) => rules.freeDays, 0],
  ['RELEASE_REQUIRES_PAYMENT', ({ rules }) => rules.releaseRequiresPayment, 'invoiced'],
  ['VIOLATION_API', ({ violations }) => violations.api, 'reference'],
  ['VIOLATION_PROOF_HOURS', ({ violations }) => violations.proofMs, 3_600_000],
  ['IMAGES_TOTAL_BYTES_MAX', ({ images }) => images.totalBytesMax, 10_000_000],
  ['IMAGES_KEEP_ORIGINALS', ({ images }) => images.keepsOriginals, false],
  ['VIOLATION_TICKET_CHECK', ({ violations }) => violations.checksTicket, false],
  ['LOOKUP_CACHE_MS', ({ lookupCacheMs }) => lookupCacheMs, 10_000],
  ['STOP_DELAY_MS', ({ stopDelayMs }) => stopDelayMs, 0],
  ['LOG_LEVEL', ({ logLevel }) => logLevel, 'info'],
  ['SIMULATOR_ASSESS_AFTER_MS', ({ simulator }) => simulator.assessAfterMs, 3000],
  ['SIMULATOR_PROFILE', ({ simulator }) => simulator.profile, 'document'],
  ['SIMULATOR_WEBHOOK_URL', ({ simulator }) => simulator.webhookUrl, null],
];

describe('without any configuration', () => {
  test.each(DEFAULTS)('%s has its documented default when no variable is set', (variable, read, value) => {
    expect(Object.keys(VARIABLES.shape)).toContain(variable);
    expect(read(defaults)).toEqual(value);
  });

  test('the rate limit of the receiver is off when no variable is set', () => {
    expect(defaults.webhook.ratePerMinute).toBe(0);
  });

  test('the configuration is not for production when no variable is set', () => {
    expect(defaults.isProduction).toBe(false);
  });

  test('a role that calls the service names all three missing service variables', () => {
    expect(() => requireService(defaults)).toThrow(/SERVICE_BASE_URL .*\nSERVICE_CLIENT_ID .*\nSERVICE_CLIENT_SECRET /);
    const partly = loadConfig({ SERVICE_BASE_URL: 'https://service.example/api', SERVICE_CLIENT_ID: 'me' });
    expect(() => requireService(partly)).toThrow(/^SERVICE_CLIENT_SECRET [^\n]*$/);
  });
});

describe('an empty variable', () => {
  test.each(Object.keys(VARIABLES.shape))('an empty %s counts as absent', (variable) => {
    expect(loadConfig({ [variable]: '' })).toEqual(defaults);
    expect(loadConfig({ [variable]: '   ' })).toEqual(defaults);
  });
});

describe('white space around a value', () => {
  const VALUES = {
    WEBHOOK_SHARED_SECRET: 'a shared secret of the service',
    WEBHOOK_SHARED_SECRET_HEADER: 'X-Hook-Secret',
    BOOTSTRAP_API_KEY: 'the-first-key-of-the-installation',
    SERVICE_BASE_URL: 'https://service.example/api',
    SERVICE_CLIENT_ID: 'me',
    SERVICE_CLIENT_SECRET: 'quiet',
    REDIS_URL: 'redis://redis.example',
    REDIS_PASSWORD: 'a password',
    OIDC_ISSUER: 'https://login.example/realms/towing',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'a secret',
    OIDC_ROLES: '{"towing-ops":"ops"}',
    CONSOLE_PUBLIC_URL: 'https://console.example',
    NODE_ENV: 'production',
  };
  const expected = loadConfig(VALUES);

  test.each(Object.entries(VALUES))('white space around %s is not part of it', (variable, value) => {
    expect(loadConfig({ ...VALUES, [variable]: ` \t${value}\r\n` })).toEqual(expected);
  });

  test('a line end after TOWHOOK_URL is not part of it', () => {
    expect(loadCommandLineSettings({ TOWHOOK_URL: 'https://console.example\n' }).url).toBe('https://console.example');
  });

  test('a line end does not count as a character of a secret', () => {
    const short = { NODE_ENV: 'production', BOOTSTRAP_API_KEY: `${'x'.repeat(23)}\n` };

    expect(() => loadConfig(short)).toThrow('BOOTSTRAP_API_KEY must have at least 24 characters');
  });
});

describe('what is configured', () => {
  test('variables that are set reach the configuration', () => {
    const config = loadConfig({
      SERVICE_BASE_URL: 'https://service.example/prefix/',
      SERVICE_CLIENT_ID: 'me',
      SERVICE_CLIENT_SECRET: 'quiet',
      REDIS_URL: 'rediss://redis.example:6380/1',
      REDIS_STRICT: 'true',
      RECEIVER_PORT: '0',
      VEHICLE_TYPES: ' HEAVY , LIGHT,',
      FREE_DAYS: '2',
      RELEASE_REQUIRES_PAYMENT: 'always',
      NODE_ENV: 'production',
    });

    expect(requireService(config)).toEqual({
      baseUrl: 'https://service.example/prefix/',
      clientId: 'me',
      clientSecret: 'quiet',
      paths: {},
      outbound: { proxyUrl: null, caFile: null, clientCertFile: null, clientKeyFile: null },
    });
    expect(config.redis).toMatchObject({ url: 'rediss://redis.example:6380/1', isStrict: true });
    expect(config.receiver.port).toBe(0);
    expect(config.rules).toMatchObject({
      vehicleTypes: ['HEAVY', 'LIGHT'],
      freeDays: 2,
      releaseRequiresPayment: 'always',
    });
    expect(config.isProduction).toBe(true);
  });

  test('SERVICE_PATHS has paths and whole addresses of operations', () => {
    const { service } = loadConfig({ SERVICE_PATHS: '{"token":"https://auth.example/token","started":"/x"}' });

    expect(service.paths).toEqual({ token: 'https://auth.example/token', started: '/x' });
  });

  test('HOST is the host of every listener without a host variable of its own', () => {
    const config = loadConfig({ HOST: '0.0.0.0', CONSOLE_HOST: '127.0.0.2' });

    expect([config.receiver, config.console, config.simulator, config.ops].map(({ host }) => host)).toEqual([
      '0.0.0.0',
      '127.0.0.2',
      '0.0.0.0',
      '0.0.0.0',
    ]);
    expect(loadConfig({ HOST: '0.0.0.0', RECEIVER_HOST: '127.0.0.3' }).receiver.host).toBe('127.0.0.3');
  });

  test('WEBHOOK_SECRETS holds for both webhook paths, in order, for rotation', () => {
    const { secrets } = loadConfig({ WEBHOOK_SECRETS: 'whsec_AAAA, whsec_BBBB' }).webhook;

    expect(secrets).toEqual({ tow_request: ['whsec_AAAA', 'whsec_BBBB'], tow_invoice: ['whsec_AAAA', 'whsec_BBBB'] });
  });

  test.each([
    ['WEBHOOK_SECRETS_TOW_REQUEST', { tow_request: ['whsec_CCCC'], tow_invoice: ['whsec_AAAA'] }],
    ['WEBHOOK_SECRETS_TOW_INVOICE', { tow_request: ['whsec_AAAA'], tow_invoice: ['whsec_CCCC'] }],
  ])('%s overrides WEBHOOK_SECRETS for its path only', (variable, expected) => {
    expect(loadConfig({ WEBHOOK_SECRETS: 'whsec_AAAA', [variable]: 'whsec_CCCC' }).webhook.secrets).toEqual(expected);
  });

  test('the header of the shared secret is stored in lower case', () => {
    const { sharedSecret } = loadConfig({
      WEBHOOK_SHARED_SECRET: 'a long secret',
      WEBHOOK_SHARED_SECRET_HEADER: 'X-Hook-Secret',
    }).webhook;

    expect(sharedSecret).toEqual({ header: 'x-hook-secret', values: ['a long secret'] });
  });

  test.each(['api_key', "x!#$%&'*+.^`|~9"])('%s is a header that may carry the shared secret', (header) => {
    const pair = { WEBHOOK_SHARED_SECRET: 'old, new', WEBHOOK_SHARED_SECRET_HEADER: header };
    expect(loadConfig(pair).webhook.sharedSecret).toEqual({ header, values: ['old', 'new'] });
  });
});

describe('the summary for the log', () => {
  test('the configuration summary shows whether secrets are set and never their values', () => {
    const summary = configSummary(
      loadConfig({
        SERVICE_BASE_URL: 'https://service.example/prefix',
        SERVICE_CLIENT_ID: 'marker-id',
        SERVICE_CLIENT_SECRET: 'marker-secret',
        REDIS_URL: 'redis://user:marker-redis@redis.example',
        WEBHOOK_SECRETS: 'whsec_markerAA',
        WEBHOOK_SHARED_SECRET: 'marker-shared',
        WEBHOOK_SHARED_SECRET_HEADER: 'x-hook',
        BOOTSTRAP_API_KEY: 'marker-key',
      }),
    );

    expect(JSON.stringify(summary)).not.toContain('marker');
    expect(summary).toMatchObject({
      service_base_url: 'https://service.example/prefix',
      service_credentials_configured: true,
      redis: 'configured',
      webhook_signatures_configured: true,
      webhook_shared_secret_configured: true,
      bootstrap_api_key_configured: true,
    });
  });

  test('the configuration summary hides a password in the address of the service', () => {
    // Refusing such an address keeps the promise as well.
    const summary = () => configSummary(loadConfig({ SERVICE_BASE_URL: 'https://me:marker@service.example/prefix' }));

    expect(outcomeOf(summary)).not.toContain('marker');
  });

  test('the configuration summary shows signatures as configured when only the invoice path has a secret', () => {
    const summary = configSummary(loadConfig({ WEBHOOK_SECRETS_TOW_INVOICE: 'whsec_AAAA' }));

    expect(summary['webhook_signatures_configured']).not.toBe(false);
  });
});

test('a fraction of an hour or a minute becomes whole milliseconds', () => {
  const { keep, rules } = loadConfig({ KEEP_TOWS_HOURS: '1.1', OVERDUE_REPORT_MINUTES: '0.3333' });

  expect(keep.towsMs).toBe(3_960_000);
  expect(rules.overdueAfter.reportMs).toBe(19_998);
});

test('the environment of the tests sets no variable of towhook', () => {
  expect(Object.keys(machineEnvironment()).toSorted()).toEqual(['PATH', 'REDIS_SERVER_BIN']);
});

function outcomeOf(run: () => unknown): string {
  try {
    return JSON.stringify(run());
  } catch (error) {
    return String(error);
  }
}

test.each(PAGE_ENTRIES.map(({ path }) => path.replace(/:.*/, '5521')))('the console is not served below %s', (path) => {
  expect(() => loadConfig({ CONSOLE_PUBLIC_URL: `https://ours.example${path}` })).toThrow('CONSOLE_PUBLIC_URL');
});

test('the provider sends people back below the path of the console', () => {
  const { signIn } = loadConfig({
    CONSOLE_PUBLIC_URL: 'https://ours.example/towhook/',
    OIDC_ISSUER: 'https://login.example',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'a secret',
    OIDC_ROLES: '{"towing-ops":"ops"}',
  });
  expect(signIn.publicPath).toBe('/towhook');
  expect(signIn.oidc?.redirectUrl).toBe('https://ours.example/towhook/sign-in/oidc/callback');
  expect(signIn.oidc?.signedOutUrl).toBe('https://ours.example/towhook/sign-in');
});
