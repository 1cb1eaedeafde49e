import { inspect } from 'node:util';
import { backoffWithoutJitterMs } from '../../src/domain/backoff';
import { ConfigurationError, loadConfig } from '../../src/platform/config';
import { VARIABLES } from '../../src/platform/variables';

/** What is wrong with an environment; nothing when it loads. */
function faultsOf(environment: Record<string, string>): ConfigurationError['faults'] {
  return errorOf(environment)?.faults ?? [];
}

function errorOf(environment: Record<string, string>): ConfigurationError | null {
  try {
    loadConfig(environment);
    return null;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}

const named = (environment: Record<string, string>) => faultsOf(environment).map(({ variable }) => variable);

/** Values that break the rule of their variable; each would be recognised if it were shown. */
const BROKEN: [variable: string, value: string, rule: string][] = [
  ['SERVICE_BASE_URL', 'service-5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'ftp://5521.example', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://a.example/?key=5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://a.example/#5521', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://5521@a.example/', 'must be an http(s) address without user, query or fragment'],
  ['SERVICE_BASE_URL', 'https://:5521@a.example/', 'must be an http(s) address without user, query or fragment'],
  ['REDIS_URL', 'http://5521.example', 'must start with redis:// or rediss://'],
  ['REDIS_STRICT', 'yes-5521', 'must be one of true, false'],
  ['RECEIVER_PORT', '5521x', 'must be a number'],
  ['RECEIVER_PORT', '65536.5521', 'must be a whole number'],
  ['CONSOLE_PORT', '75521', 'must be at most 65535'],
  ['SIMULATOR_PORT', '-5521', 'must be at least 0'],
  ['OPS_PORT', '75521', 'must be at most 65535'],
  ['WEBHOOK_SECRETS', 'whsec_AAAA,secret-5521', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS', ',', 'must name at least one secret'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521!', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521A', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_REQUEST', 'whsec_5521==AA', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_SECRETS_TOW_INVOICE', 'WHSEC_5521', 'must be a comma list of whsec_… secrets'],
  ['WEBHOOK_UNVERIFIED', 'yes-5521', 'must be one of accept'],
  ['WEBHOOK_BODY_LIMIT_BYTES', '-5521', 'must be at least 1'],
  ['WEBHOOK_RATE_PER_MINUTE', '-5521', 'must be at least 0'],
  ['CONSOLE_OPEN_PATHS', 'docs,api-5521', 'must be one of metrics, docs'],
  [
    'TRUST_PROXY',
    '10.0.0.0/5521',
    'must be a comma list of addresses and networks (10.0.0.0/8), or a number of proxies up to 99',
  ],
  ['SERVICE_TIMEOUT_MS', '55210', 'must be at most 14000: a claim lasts 20 s'],
  ['SERVICE_TIMEOUT_MS', '-5521', 'must be at least 1'],
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
  ['WORKER_CONCURRENCY', '5521', 'must be at most 1000'],
  ['STOP_GRACE_MS', '-5521', 'must be at least 0'],
  ['WORKER_STANDSTILL_MS', '5.521', 'must be a whole number'],
  ['KEEP_DELIVERIES_HOURS', '-5521', 'must be at least 0'],
  ['KEEP_TOWS_HOURS', '5521d', 'must be a number'],
  ['KEEP_VIOLATIONS_HOURS', '5521d', 'must be a number'],
  ['KEEP_AUDIT_HOURS', '-5521', 'must be at least 0'],
  ['LOG_LEVEL', 'loud-5521', 'must be one of error, warn, info, http, verbose, debug, silly'],
  ['SIMULATOR_ASSESS_AFTER_MS', '-5521', 'must be at least 0'],
  ['SIMULATOR_WEBHOOK_URL', 'hook-5521', 'must be an http(s) address'],
];

/** Variables that any text satisfies. */
const ANY_TEXT = [
  'NODE_ENV',
  'SERVICE_CLIENT_ID',
  'SERVICE_CLIENT_SECRET',
  'BOOTSTRAP_API_KEY',
  'WEBHOOK_SHARED_SECRET',
  'REDIS_SERVER_BIN',
  'DATA_DIR',
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

  test('an invalid WEBHOOK_SHARED_SECRET_HEADER is reported without its value', () => {
    const error = errorOf({ WEBHOOK_SHARED_SECRET: 'a long secret', WEBHOOK_SHARED_SECRET_HEADER: ':5521' });

    expect(error?.faults.map((fault) => fault.variable)).toEqual(['WEBHOOK_SHARED_SECRET_HEADER']);
    expect(inspect(error, { depth: null })).not.toContain('5521');
  });

  test('every variable with a rule has an invalid example in this test', () => {
    const examples = new Set([...BROKEN.map(([variable]) => variable), ...ANY_TEXT, 'WEBHOOK_SHARED_SECRET_HEADER']);

    expect([...examples].toSorted()).toEqual(Object.keys(VARIABLES.shape).toSorted());
  });

  test('all invalid variables are reported together', () => {
    const first = new Map(BROKEN.map(([variable, value]) => [variable, value]));

    expect(named(Object.fromEntries(first)).toSorted()).toEqual([...first.keys()].toSorted());
  });

  test('a variable that towhook does not know is ignored', () => {
    expect(faultsOf({ RECEIVER_PROT: 'x', PATH: '/bin' })).toEqual([]);
  });
});

describe('a secret', () => {
  test('a shared secret that is only compared may have any length', () => {
    const pair = { WEBHOOK_SHARED_SECRET: 'x', WEBHOOK_SHARED_SECRET_HEADER: 'x-hook' };
    const config = loadConfig({ BOOTSTRAP_API_KEY: 'k', ...pair });

    expect([config.bootstrapApiKey, config.webhook.sharedSecret?.value]).toEqual(['k', 'x']);
  });

  test.each(['whsec_AAAA', 'whsec_AAA=', 'whsec_AA==', 'whsec_+/+/'])(
    'a signature secret may be any base64: %s',
    (secret) => {
      expect(loadConfig({ WEBHOOK_SECRETS: secret }).webhook.secrets.tow_request).toEqual([secret]);
    },
  );
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

  test('a retry cap below the retry base is valid and limits it', () => {
    const { policy } = loadConfig({ RETRY_BASE_MS: '5000', RETRY_CAP_MS: '4999' });

    expect([0, 1, 9].map((failures) => backoffWithoutJitterMs(failures, policy))).toEqual([4999, 4999, 4999]);
  });

  test('a contradiction is reported together with all invalid variables', () => {
    const environment = { WEBHOOK_SHARED_SECRET: 'x-hook-secret', RETRY_CAP_MS: '0', RECEIVER_PORT: 'x' };

    expect(named(environment).toSorted()).toEqual(['RECEIVER_PORT', 'RETRY_CAP_MS', 'WEBHOOK_SHARED_SECRET']);
  });
});
