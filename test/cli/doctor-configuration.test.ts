import { checkConfiguration } from '../../src/doctor/configuration';
import { VARIABLE_GROUPS } from '../../src/platform/config/variables';

const faultsOf = (environment: Readonly<Record<string, string>>) =>
  checkConfiguration(environment).findings.map(({ code, what }) => `${code} ${what.split(' ')[0]}`);

test.each([
  [
    'a shared secret file that cannot be read',
    { WEBHOOK_SHARED_SECRET_HEADER: 'X-Secret', WEBHOOK_SHARED_SECRET_FILE: '/missing' },
    ['WEBHOOK_SHARED_SECRET_FILE'],
  ],
  [
    'a shared secret with an invalid header',
    { WEBHOOK_SHARED_SECRET_HEADER: 'X Secret', WEBHOOK_SHARED_SECRET: 'a-secret-of-thirty-two-characters' },
    ['WEBHOOK_SHARED_SECRET_HEADER'],
  ],
  [
    'a shared secret in a file that cannot be read, with an invalid header',
    { WEBHOOK_SHARED_SECRET_HEADER: 'X Secret', WEBHOOK_SHARED_SECRET_FILE: '/missing' },
    ['WEBHOOK_SHARED_SECRET_FILE', 'WEBHOOK_SHARED_SECRET_HEADER'],
  ],
  [
    'an invalid number and incomplete notifications',
    { RETRY_BASE_MS: 'abc', NOTIFY_MAIL_FROM: 'towhook@towing.example' },
    ['RETRY_BASE_MS', 'NOTIFY_SMTP_URL'],
  ],
  [
    'an invalid number, incomplete notifications and an incomplete provider of identities',
    { RETRY_BASE_MS: 'abc', NOTIFY_MAIL_FROM: 'towhook@towing.example', OIDC_ISSUER: 'https://id.example' },
    ['RETRY_BASE_MS', 'NOTIFY_SMTP_URL', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_ROLES', 'CONSOLE_PUBLIC_URL'],
  ],
  [
    'an invalid reminder and a mail address without a server',
    { NOTIFY_REMIND_HOURS: 'at night', NOTIFY_MAIL_FROM: 'towhook@towing.example' },
    ['NOTIFY_REMIND_HOURS', 'NOTIFY_SMTP_URL'],
  ],
  [
    'an invalid mail server and a mail address that needs it',
    { NOTIFY_SMTP_URL: 'mail', NOTIFY_MAIL_FROM: 'towhook@towing.example' },
    ['NOTIFY_SMTP_URL'],
  ],
  [
    'a file of authorities of the mail server that cannot be read',
    {
      NOTIFY_SMTP_URL: 'smtp://mail.example',
      NOTIFY_MAIL_FROM: 'towhook@towing.example',
      NOTIFY_SMTP_CA_FILE: '/missing.pem',
    },
    ['NOTIFY_SMTP_CA_FILE'],
  ],
  [
    'a client certificate without its key and a file of the client secret that cannot be read',
    { SERVICE_CLIENT_CERT_FILE: '/missing.pem', SERVICE_CLIENT_SECRET_FILE: '/missing' },
    ['SERVICE_CLIENT_SECRET_FILE', 'SERVICE_CLIENT_CERT_FILE'],
  ],
])('towhook doctor names each wrong variable once for %s', (_cause, environment, variables) => {
  expect(faultsOf(environment)).toEqual(variables.map((variable) => `variable_invalid ${variable}`));
});

test('towhook doctor checks the rest of the configuration when variables are wrong', () => {
  const { config, wrong } = checkConfiguration({
    SERVICE_CLIENT_SECRET_FILE: '/missing',
    NOTIFY_MAIL_FROM: 'towhook@towing.example',
    DATA_DIR: '/srv/towhook',
  });
  expect(config.dataDir).toBe('/srv/towhook');
  expect(wrong).toEqual(
    expect.arrayContaining(['SERVICE_CLIENT_SECRET', 'SERVICE_CLIENT_SECRET_FILE', 'NOTIFY_SMTP_URL']),
  );
});

const SET_TOGETHER = {
  NODE_ENV: 'production',
  NOTIFY_SMTP_URL: 'smtps://mail.example',
  NOTIFY_MAIL_FROM: 'towhook@towing.example',
  NOTIFY_MAIL_TO: 'ops@towing.example',
  NOTIFY_WEBHOOK_URL: 'https://alarms.example',
  OIDC_ISSUER: 'https://id.example',
  OIDC_CLIENT_ID: 'towhook',
  CONSOLE_PUBLIC_URL: 'https://console.example',
  CONSOLE_KEY_SIGN_IN: 'false',
  WEBHOOK_SHARED_SECRET: 'a-secret-of-thirty-two-characters',
  WEBHOOK_SHARED_SECRET_HEADER: 'X-Secret',
  REDIS_URL: 'rediss://redis.example',
};

test.each(Object.values(VARIABLE_GROUPS).flatMap((group) => Object.keys(group)))(
  'towhook doctor ends its check of the configuration for wrong values of %s, which other variables need',
  (name) => {
    for (const value of ['', '/nowhere', 'x y', '-1']) {
      const { findings, config } = checkConfiguration({ ...SET_TOGETHER, [name]: value });
      expect(findings.length).toBeGreaterThan(0);
      expect(config.redis).toBeDefined();
    }
  },
);

test('towhook doctor warns of a variable with the name of none, and names what may be meant', () => {
  const { findings } = checkConfiguration({ RECEIVER_PROT: '3000', WEBHOOK_UNVERIFIED: 'accept' });
  const warning = findings.find(({ code }) => code === 'variables_unknown');
  expect(warning?.state).toBe('warning');
  expect(warning?.what).toContain('RECEIVER_PROT (RECEIVER_PORT?)');
});
