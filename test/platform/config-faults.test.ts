import { inspect } from 'node:util';
import { backoffWithoutJitterMs } from '../../src/domain/outbox/backoff';
import { ALARM_KINDS } from '../../src/domain/ops/notification-settings';
import { API_KEY_RULE, CREDENTIAL_RULE } from '../../src/domain/vocabulary';
import { loadConfig } from '../../src/platform/config/config';
import { VARIABLES } from '../../src/platform/config/variables';
import { errorOf, faultsOf } from './config-errors';

const named = (environment: Record<string, string>) => faultsOf(environment).map(({ variable }) => variable);

const MUTED_RULE = `must be one of ${ALARM_KINDS.join(', ')}`;

const WITHOUT_PREFIX =
  'has a secret without whsec_ in front: add it if the secret is base64, else put whsec_ in front of the base64 of its text';
const QUOTED = 'is in quotes, which env files may keep: leave them out';

/** Values that break the rule of their variable; each would be recognised if it were shown. */
const BROKEN: [variable: string, value: string, rule: string][] = [
  ['INSTALLATION', 'North_5521', 'must be 1 to 32 of a-z, 0-9 and -'],
  ['INSTALLATION', '5521'.repeat(9), 'must be 1 to 32 of a-z, 0-9 and -'],
  ['SERVICE_BASE_URL', 'service-5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'ftp://5521.example', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://a.example/?key=5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://a.example/#5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://5521@a.example/', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://:5521@a.example/', 'must be an http(s) address without user, query or fragment'],
  ...['https://5521.example/api?', 'https://5521.example/api#', 'https://@5521.example', 'https:5521.example'].map(
    (address): [string, string, string] => [
      'SERVICE_BASE_URL',
      address,
      'must be an http(s) address without user, query or fragment',
    ],
  ),
  ['SERVICE_BASE_URL', 'https://5521.example/an api', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_CLIENT_ID', 'client 5521', CREDENTIAL_RULE],
  ['SERVICE_CLIENT_SECRET', 'secret\n5521', CREDENTIAL_RULE],
  ['SERVICE_CLIENT_SECRET', 'سر-5521', CREDENTIAL_RULE],
  ['SERVICE_CLIENT_SECRET', '"secret-5521"', QUOTED],
  ['SERVICE_MODE', "'dark-5521'", QUOTED],
  ['SERVICE_PATHS', '5521', 'must be a JSON object such as {"started":"/v2/tow/started"}'],
  ['SERVICE_PATHS', '{"started": "/5521"', 'must be a JSON object such as {"started":"/v2/tow/started"}'],
  ['SERVICE_PATHS', '{"begun":"/5521"}', 'names an unknown operation, begun'],
  ['SERVICE_PATHS', '{"a secret 5521":"/x"}', 'names an unknown operation'],
  ...[
    '5521',
    '/x?key=5521',
    '/x y/5521',
    'ftp://5521.example',
    'https://u:5521@a.example/t',
    'https://a.5521/?',
    5521,
  ].map((path): [string, string, string] => [
    'SERVICE_PATHS',
    JSON.stringify({ token: path }),
    'token: must be a path that begins with /, or an http(s) address, without user, query or fragment',
  ]),
  ...['proxy-5521', 'socks5://5521.example', 'http://u:55%21%zz@p.example', 'http://p.example/5521'].map(
    (address): [string, string, string] => [
      'SERVICE_PROXY_URL',
      address,
      'must be an http(s) address such as http://user:password@proxy.example:3128',
    ],
  ),
  ['SERVICE_ENVELOPE_CODE', 'both-5521', 'must be one of refusal, ignore'],
  ['SERVICE_LENIENT_HTTP', 'yes-5521', 'must be one of true, false'],
  ['REDIS_URL', 'http://5521.example', 'must start with redis:// or rediss://'],
  ['REDIS_PASSWORD_FILE', '/no/5521', 'must name a file that can be read'],
  ['REDIS_SENTINEL_PASSWORD_FILE', '/no/5521', 'must name a file that can be read'],
  ['REDIS_PERSISTENCE', '5521', 'must be one of checked, trusted'],
  ['REDIS_MIN_REPLICAS', '-5521', 'must be at least 0'],
  ['REDIS_STRICT', 'yes-5521', 'must be one of true, false'],
  ['RECEIVER_PORT', '5521x', 'must be a number'],
  ['RECEIVER_PORT', '65536.5521', 'must be a whole number'],
  ['CONSOLE_PORT', '75521', 'must be at most 65535'],
  ['SIMULATOR_PORT', '-5521', 'must be at least 0'],
  ...['RECEIVER_PORT', 'CONSOLE_PORT', 'SIMULATOR_PORT', 'OPS_PORT'].map((name): [string, string, string] => [
    name,
    'tcp://10.0.0.1:5521',
    'is the address of a Service that Kubernetes has put there: set `enableServiceLinks: false` in the pod',
  ]),
  ['OPS_PORT', '75521', 'must be at most 65535'],
  ['WEBHOOK_SECRETS', 'whsec_AAAA,secret-5521', WITHOUT_PREFIX],
  ['WEBHOOK_SECRETS', 'v1,whsec_5521AAAA', 'has `v1,` in front of a secret: leave it out, so that whsec_ comes first'],
  ['WEBHOOK_SECRETS', ',', 'must name at least one secret'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521!', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521A', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521==AA', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_INVOICE', 'WHSEC_5521', WITHOUT_PREFIX],
  ...[
    'WEBHOOK_SECRETS',
    'WEBHOOK_SECRETS_TOW_REQUEST',
    'WEBHOOK_SECRETS_TOW_INVOICE',
    'WEBHOOK_SHARED_SECRET',
    'SERVICE_CLIENT_SECRET',
    'BOOTSTRAP_API_KEY',
    'SERVICE_PROXY_URL',
    'OIDC_CLIENT_SECRET',
    'OIDC_PROXY_URL',
  ].map((name): [string, string, string] => [`${name}_FILE`, '/no/file-5521', 'must name a file that can be read']),
  ['WEBHOOK_UNVERIFIED', 'yes-5521', 'must be one of accept'],
  ['WEBHOOK_BODY_LIMIT_BYTES', '-5521', 'must be at least 1'],
  ['WEBHOOK_SILENCE_INTERVALS', '-1', 'must be at least 0'],
  ['WEBHOOK_RATE_PER_MINUTE', '-5521', 'must be at least 0'],
  ['NOTIFY_WEBHOOK_URL', 'ftp://5521.example', 'must be an http(s) address without user and fragment'],
  ['NOTIFY_WEBHOOK_SECRET', '5521', 'must be a whsec_… secret'],
  ['NOTIFY_SMTP_URL', 'mail-5521', 'must be an address such as smtp://user:password@mail.example:587'],
  ['NOTIFY_SMTP_URL', 'smtp://u:%zz5521@a.example', 'must be an address such as smtp://user:password@mail.example:587'],
  ['NOTIFY_MAIL_FROM', '5521', 'must be a mail address'],
  ['NOTIFY_MAIL_TO', 'a@b.example,5521', 'must be a mail address'],
  ['NOTIFY_REMIND_HOURS', '-5521', 'must be at least 0'],
  ['NOTIFY_REMIND_HOURS', '721', 'must be at most 720'],
  ['NOTIFY_MUTED_ALARMS', '5521', MUTED_RULE],
  ['NOTIFY_SEVERITIES', '5521', 'must be one of bad, wait'],
  ['NOTIFY_FORMAT', '5521', 'must be one of standard, slack, teams, google-chat, discord'],
  ['NOTIFY_PROXY_URL', 'proxy-5521', 'must be an http(s) address such as http://user:password@proxy.example:3128'],
  ['NOTIFY_LANGUAGE', '5521', 'must be one of en, ar'],
  ['CONSOLE_OPEN_PATHS', 'docs,api-5521', 'must be one of metrics, docs'],
  ['CONSOLE_KEY_SIGN_IN', 'no-5521', 'must be one of true, false'],
  ...['console-5521', 'https://a.example/ops/5521', 'https://a.example/a%205521', 'https://a.example/?5521'].map(
    (address): [string, string, string] => [
      'CONSOLE_PUBLIC_URL',
      address,
      'must be an http(s) address such as https://console.example or https://ours.example/towhook; its path may not begin like one of the console',
    ],
  ),
  ['OIDC_ISSUER', 'https://a.example/?5521', 'must be an http(s) address without user, query or fragment'],
  ...['{"5521": "ops"', '["5521"]', '{}'].map((text): [string, string, string] => [
    'OIDC_ROLES',
    text,
    'must be a JSON object such as {"towing-ops":"ops"}',
  ]),
  ['OIDC_ROLES', '{"5521":"chief"}', 'must give each value one of the roles viewer, crew, dispatcher, ops'],
  ['OIDC_SCOPES', 'profile 5521', 'must be scopes with spaces between, one of them openid'],
  ['OIDC_PROXY_URL', 'proxy-5521', 'must be an http(s) address such as http://user:password@proxy.example:3128'],
  [
    'TRUST_PROXY',
    '10.0.0.0/5521',
    'must be a comma list of addresses and networks (10.0.0.0/8), or a number of proxies up to 99',
  ],
  ['SERVICE_MODE', 'dark-5521', 'must be one of live, shadow'],
  ['SERVICE_TIMEOUT_MS', '55210', 'must be at most 14000: a claim lasts 20 s'],
  ['SERVICE_TIMEOUT_MS', '-5521', 'must be at least 1'],
  ['SERVICE_UPLOAD_TIMEOUT_MS', '3600001', 'must be at most 3600000'],
  ['RETRY_BASE_MS', '-5521', 'must be at least 1'],
  ['RETRY_CAP_MS', '0.5521', 'must be a whole number'],
  ['NOT_FOUND_RETRIES', '-5521', 'must be at least 0'],
  ['NOT_FOUND_RETRY_MS', 'soon-5521', 'must be a number'],
  ['UNKNOWN_GRACE_MS', '5521s', 'must be a number'],
  ['REPORT_GIVE_UP_AFTER_HOURS', '-0.5521', 'must be at least 0'],
  ['BUDGET_AUTH_PER_MINUTE', '-5521', 'must be at least 0'],
  ['BUDGET_SITE_PER_MINUTE', '5521x', 'must be a number'],
  ['BUDGET_VIOLATIONS_PER_MINUTE', '0.5521', 'must be a whole number'],
  ['BUDGET_TICKETS_PER_MINUTE', '-5521', 'must be at least 0'],
  ['BUDGET_TOW_PER_MINUTE', '-5521', 'must be at least 0'],
  ['SERVICE_LIMIT_HEADERS', 'perhaps-5521', 'must be one of follow, ignore'],
  ['VEHICLE_TYPES', ' , ', 'must name at least one value'],
  ['PAYMENT_STATUSES', ',', 'must name at least one value'],
  ['FREE_DAYS', '-5521', 'must be at least 0'],
  ['RELEASE_REQUIRES_PAYMENT', 'sometimes-5521', 'must be one of invoiced, always, never'],
  ['OVERDUE_REQUESTED_MINUTES', '-5521', 'must be at least 0'],
  ['OVERDUE_STARTED_MINUTES', '55215521', 'must be at most 525600'],
  ['OVERDUE_REPORT_MINUTES', '5521m', 'must be a number'],
  ['VIOLATION_API', 'both-5521', 'must be one of reference, guide'],
  ['VIOLATION_PROOF_HOURS', '-5521', 'must be at least 0'],
  ['VIOLATION_TICKET_CHECK', 'yes-5521', 'must be one of true, false'],
  ['LOOKUP_CACHE_MS', '5.521', 'must be a whole number'],
  ['BOOTSTRAP_API_KEY', 'key with spaces 5521', API_KEY_RULE],
  ['BOOTSTRAP_API_KEY', 'مفتاح-5521', API_KEY_RULE],
  ['NODE_ENV', 'prod-5521', 'must be one of development, test, production'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:5521', 'must be an http(s) address without user, query or fragment'],
  ['OTEL_TRACES_SAMPLER_ARG', '5521', 'must be at most 1'],
  ['WORKER_CONCURRENCY', '5521', 'must be at most 1000'],
  ['IMAGES_TOTAL_BYTES_MAX', '99999', 'must be at least 100000'],
  ['IMAGES_KEEP_ORIGINALS', 'perhaps', 'must be one of true, false'],
  ['STOP_DELAY_MS', '-5521', 'must be at least 0'],
  ['STOP_GRACE_MS', '-5521', 'must be at least 0'],
  ['WORKER_STALLED_MS', '5.521', 'must be a whole number'],
  ['KEEP_DELIVERIES_HOURS', '-5521', 'must be at least 0'],
  ['KEEP_TOWS_HOURS', '5521d', 'must be a number'],
  ['KEEP_VIOLATIONS_HOURS', '5521d', 'must be a number'],
  ['KEEP_AUDIT_HOURS', '-5521', 'must be at least 0'],
  ['KEEP_CHANGES_HOURS', '-1', 'must be at least 0'],
  ['SUBSCRIPTION_PRIVATE_ADDRESSES', 'yes', 'must be one of refuse, allow'],
  ['SUBSCRIPTION_PROXY_URL', 'proxy-7', 'must be an http(s) address such as http://user:password@proxy.example:3128'],
  ['SUBSCRIPTION_GIVE_UP_HOURS', '-1', 'must be at least 0'],
  ['LOG_LEVEL', 'loud-5521', 'must be one of error, warn, info, http, verbose, debug, silly'],
  ['SIMULATOR_ASSESS_AFTER_MS', '-5521', 'must be at least 0'],
  ['SIMULATOR_WEBHOOK_URL', 'hook-5521', 'must be an http(s) address'],
];

const TLS_FILES = ['CA_FILE', 'CLIENT_CERT_FILE', 'CLIENT_KEY_FILE'];
/** Variables that any text satisfies. */
const ANY_TEXT = [
  'NOTIFY_PROXY_URL_FILE',
  'SUBSCRIPTION_PROXY_URL_FILE',
  'NOTIFY_CA_FILE',
  'NOTIFY_WEBHOOK_SECRET_FILE',
  'NOTIFY_SMTP_URL_FILE',
  'NOTIFY_SMTP_CA_FILE',
  'OTEL_SERVICE_NAME',
  ...TLS_FILES.map((name) => `SERVICE_${name}`),
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_ROLE_CLAIM',
  'OIDC_CA_FILE',
  'REDIS_PASSWORD',
  ...TLS_FILES.map((name) => `REDIS_${name}`),
  'REDIS_TLS_SERVER_NAME',
  'REDIS_SENTINELS',
  'REDIS_SENTINEL_PASSWORD',
  'REDIS_SERVER_BIN',
  'DATA_DIR',
  'DATA_KEYS_FILE',
  'SIMULATOR_PROFILE',
  'HOST',
  'RECEIVER_HOST',
  'CONSOLE_HOST',
];

describe('a faulty variable', () => {
  test.each(BROKEN)('the invalid %s=%s is reported with its rule and without its value', (variable, value, rule) => {
    const error = errorOf({ [variable]: value });

    expect(error?.faults).toEqual([{ variable, rule }]);
    expect(error?.message).toBe(`${variable} ${rule}`);
    expect(inspect(error, { depth: null })).not.toContain('5521');
  });

  const SHARED_SECRET = { WEBHOOK_SHARED_SECRET: 'old-5521\tnew-5521', WEBHOOK_SHARED_SECRET_HEADER: ':5521' };

  test('an invalid shared secret and its invalid header are reported without their values', () => {
    const error = errorOf(SHARED_SECRET);

    expect(error?.faults.map((fault) => fault.variable)).toEqual(Object.keys(SHARED_SECRET));
    expect(inspect(error, { depth: null })).not.toContain('5521');
  });

  test('a value with quotes at one end alone is not in quotes', () => {
    expect(faultsOf({ SERVICE_CLIENT_SECRET: '"', BOOTSTRAP_API_KEY: '"a' })).toEqual([]);
  });

  test('every variable with a rule has an invalid example in this test', () => {
    const examples = new Set([...BROKEN.map(([variable]) => variable), ...ANY_TEXT, ...Object.keys(SHARED_SECRET)]);

    expect([...examples].toSorted()).toEqual(Object.keys(VARIABLES.shape).toSorted());
  });

  test('all invalid variables are reported together', () => {
    const first = new Map(BROKEN.map(([variable, value]) => [variable, value]));

    expect(named(Object.fromEntries(first)).toSorted()).toEqual([...first.keys()].toSorted());
  });

  test.each(['SERVICE_MOD', 'SERVICEMODE', 'service_mode', 'SERVICE_MODUS', 'TOWHOOK_MODE', 'MODE'])(
    'the start is refused with %s=shadow, which would send everything',
    (variable) => {
      expect(faultsOf({ [variable]: 'shadow' })).toEqual([
        {
          variable,
          rule: 'is no variable of towhook: SERVICE_MODE decides whether anything is sent; correct the name or remove it',
        },
      ]);
    },
  );

  test('other variables that look like ours are named beside the one that may be meant, and accepted', () => {
    const others = {
      RECEIVER_PROT: 'x',
      service_base_url: 'x',
      RETRY_BASE: '5521',
      BUDGET_CRANES_PER_MINUTE: '1',
      SERVICE_NAME: 'hooks',
    };
    expect(loadConfig(others).unknownVariables).toEqual([
      'RECEIVER_PROT (RECEIVER_PORT?)',
      'service_base_url (SERVICE_BASE_URL?)',
      'RETRY_BASE',
      'BUDGET_CRANES_PER_MINUTE',
      'SERVICE_NAME',
    ]);
  });

  test('variables of other programs, of Kubernetes and of OpenTelemetry are not named', () => {
    const foreign = {
      PATH: '/bin',
      PORT: '80',
      APP_PORT: '80',
      HOSTNAME: 'a',
      NODE_VERSION: '22',
      NODE_OPTIONS: '--max-old-space-size=512',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=b',
      CONSOLE_SERVICE_HOST: '10.0.0.1',
      CONSOLE_SERVICE_PORT_HTTP: '80',
      REDIS_PORT: 'tcp://10.0.0.1:6379',
      REDIS_PORT_6379_TCP_ADDR: '10.0.0.1',
      SERVICE_PATH: '',
      DISPLAY_MODE: 'light',
    };
    expect(loadConfig({ ...foreign, TOWHOOK_URL: 'http://127.0.0.1:1' }).unknownVariables).toEqual([]);
  });
});

describe('a secret', () => {
  test('a shared secret that is only compared may have any length', () => {
    const pair = { WEBHOOK_SHARED_SECRET: 'x', WEBHOOK_SHARED_SECRET_HEADER: 'x-hook' };
    const config = loadConfig({ BOOTSTRAP_API_KEY: 'k', ...pair });

    expect([config.bootstrapApiKey, config.webhook.sharedSecret?.values]).toEqual(['k', ['x']]);
  });

  test.each(['whsec_AAAA', 'whsec_AAA=', 'whsec_AA==', 'whsec_+/+/'])(
    'a signature secret may be any base64: %s',
    (secret) => {
      expect(loadConfig({ WEBHOOK_SECRETS: secret }).webhook.secrets.tow_request).toEqual([secret]);
    },
  );
});

describe('the sign-in of people', () => {
  const COMPLETE = {
    CONSOLE_PUBLIC_URL: 'https://console.example/',
    OIDC_ISSUER: 'https://login.example/realms/towing',
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'secret',
    OIDC_ROLES: '{"towing-ops":"ops"}',
  };

  test('a part of a provider is refused with the names of all missing variables', () => {
    expect(faultsOf({ OIDC_CLIENT_ID: 'console', OIDC_SCOPES: 'openid' })).toEqual(
      ['OIDC_ISSUER', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES', 'CONSOLE_PUBLIC_URL'].map((variable) => ({
        variable,
        rule: 'is required with OIDC_CLIENT_ID',
      })),
    );
  });

  test.each(Object.keys(COMPLETE))('a provider without %s is refused', (variable) => {
    expect(named({ ...COMPLETE, [variable]: '' })).toEqual([variable]);
  });

  test('switching off the sign-in with keys is refused without a provider', () => {
    const missing = faultsOf({ CONSOLE_KEY_SIGN_IN: 'false' });

    expect(missing).toHaveLength(Object.keys(COMPLETE).length);
    expect(missing[0]?.rule).toBe('is required with CONSOLE_KEY_SIGN_IN=false');
    expect(loadConfig({ ...COMPLETE, CONSOLE_KEY_SIGN_IN: 'false' }).signIn.withKeys).toBe(false);
  });

  test('production refuses an issuer without TLS', () => {
    const plain = { ...COMPLETE, OIDC_ISSUER: 'http://login.example' };

    expect(faultsOf({ ...plain, NODE_ENV: 'production' })).toContainEqual({
      variable: 'OIDC_ISSUER',
      rule: 'must begin with https:// when NODE_ENV is production',
    });
    expect(faultsOf(plain)).toEqual([]);
  });

  test('the redirect address is made of the public address of the console', () => {
    const { oidc } = loadConfig(COMPLETE).signIn;

    expect(oidc?.redirectUrl).toBe('https://console.example/sign-in/oidc/callback');
    expect(oidc?.roles).toEqual(new Map([['towing-ops', 'ops']]));
  });
});

describe('a contradiction', () => {
  test.each(['WEBHOOK_SHARED_SECRET', 'WEBHOOK_SHARED_SECRET_HEADER'])(
    'setting only %s is reported as a contradiction',
    (variable) => {
      const faults = faultsOf({ [variable]: 'x-hook-secret' });

      expect(faults).toEqual([
        { variable: 'WEBHOOK_SHARED_SECRET', rule: 'and WEBHOOK_SHARED_SECRET_HEADER must be set together' },
      ]);
    },
  );

  test.each(['SERVICE_CLIENT_CERT_FILE', 'SERVICE_CLIENT_KEY_FILE'])(
    'setting only %s is reported as a contradiction',
    (variable) => {
      expect(faultsOf({ [variable]: 'file.pem' })).toEqual([
        { variable: 'SERVICE_CLIENT_CERT_FILE', rule: 'and SERVICE_CLIENT_KEY_FILE must be set together' },
      ]);
    },
  );

  test('a retry cap below the retry base is valid and limits it', () => {
    const { policy } = loadConfig({ RETRY_BASE_MS: '5000', RETRY_CAP_MS: '4999' });

    expect([0, 1, 9].map((failures) => backoffWithoutJitterMs(failures, policy))).toEqual([4999, 4999, 4999]);
  });

  test('a contradiction is reported together with all invalid variables', () => {
    const environment = { WEBHOOK_SHARED_SECRET: 'x-hook-secret', RETRY_CAP_MS: '0', RECEIVER_PORT: 'x' };

    expect(named(environment).toSorted()).toEqual(['RECEIVER_PORT', 'RETRY_CAP_MS', 'WEBHOOK_SHARED_SECRET']);
  });
});
