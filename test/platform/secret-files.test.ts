import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CREDENTIAL_RULE } from '../../src/domain/vocabulary';
import { loadCommandLineSettings, loadConfig, reloadWebhookSecrets } from '../../src/platform/config/config';
import { faultsOf } from './config-errors';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-secrets-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a file and returns its path. */
async function fileWith(text: string, name = 'secrets'): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

test.each(['whsec_AAAA\nwhsec_BBBB\n', ' whsec_AAAA, whsec_BBBB '])(
  'the secrets in a file may be on lines of their own or in a comma list: %j',
  async (text) => {
    const { secrets } = loadConfig({ WEBHOOK_SECRETS_FILE: await fileWith(text) }).webhook;
    const both = ['whsec_AAAA', 'whsec_BBBB'];
    expect(secrets).toEqual({ tow_request: both, tow_invoice: both });
  },
);

test('a client secret file of two lines is refused with its variable and rule', async () => {
  const path = await fileWith('first-line\nsecond-line\n');
  expect(faultsOf({ SERVICE_CLIENT_SECRET_FILE: path })).toEqual([
    { variable: 'SERVICE_CLIENT_SECRET_FILE', rule: CREDENTIAL_RULE },
  ]);
});

test('the file of a path overrides the secrets of both paths', async () => {
  const file = await fileWith('whsec_BBBB');
  expect(loadConfig({ WEBHOOK_SECRETS: 'whsec_AAAA', WEBHOOK_SECRETS_TOW_INVOICE_FILE: file }).webhook.secrets).toEqual(
    { tow_request: ['whsec_AAAA'], tow_invoice: ['whsec_BBBB'] },
  );
});

test('the shared secret in a file ends before the line break at the end of the file', async () => {
  const file = await fileWith('a shared secret\n');
  expect(
    loadConfig({ WEBHOOK_SHARED_SECRET_FILE: file, WEBHOOK_SHARED_SECRET_HEADER: 'X-Hook' }).webhook.sharedSecret,
  ).toEqual({ header: 'x-hook', values: ['a shared secret'] });
});

test('each line of a file is a shared secret, with its commas', async () => {
  const file = await fileWith('the old, long secret\r\nthe new secret\n');
  const shared = { WEBHOOK_SHARED_SECRET_FILE: file, WEBHOOK_SHARED_SECRET_HEADER: 'X-Hook' };
  const values = ['the old, long secret', 'the new secret'];
  expect(loadConfig(shared).webhook.sharedSecret?.values).toEqual(values);
  await fileWith('the old, long secret');
  expect(loadConfig(shared).webhook.sharedSecret?.values).toEqual(values.slice(0, 1));
  expect(faultsOf({ ...shared, NODE_ENV: 'production' })).toContainEqual({
    variable: 'WEBHOOK_SHARED_SECRET_FILE',
    rule: 'must have at least 24 characters when NODE_ENV is production',
  });
});

test('a secret file in UTF-16 is refused with its cause, and one with a byte order mark of UTF-8 is read', async () => {
  const rule = 'must name a file in UTF-8; this one is UTF-16 or binary';
  const path = join(folder, 'sixteen');
  for (const text of ['\uFEFFwhsec_AAAA\r\n', 'whsec_AAAA']) {
    await writeFile(path, text, 'utf16le');
    expect(faultsOf({ WEBHOOK_SECRETS_FILE: path })).toEqual([{ variable: 'WEBHOOK_SECRETS_FILE', rule }]);
  }
  expect(() => loadCommandLineSettings({ TOWHOOK_API_KEY_FILE: path })).toThrow(rule);
  const marked = await fileWith('\uFEFFwhsec_AAAA\r\n');
  expect(loadConfig({ WEBHOOK_SECRETS_FILE: marked }).webhook.secrets.tow_request).toEqual(['whsec_AAAA']);
});

test('credentials of the service, its proxy and the first key may be in files', async () => {
  const config = loadConfig({
    SERVICE_CLIENT_SECRET_FILE: await fileWith('secret-of-the-client\n', 'client'),
    SERVICE_PROXY_URL_FILE: await fileWith('http://user:password@proxy.example:3128\n', 'proxy'),
    BOOTSTRAP_API_KEY_FILE: await fileWith('the-first-key\n', 'key'),
  });
  expect(config.service.clientSecret).toBe('secret-of-the-client');
  expect(config.service.outbound.proxyUrl).toBe('http://user:password@proxy.example:3128');
  expect(config.bootstrapApiKey).toBe('the-first-key');
});

test('the command line reads its key from a file, and ignores the files of other secrets', async () => {
  const other = { SERVICE_CLIENT_SECRET_FILE: join(folder, 'none') };
  const first = { BOOTSTRAP_API_KEY_FILE: await fileWith('the-first-key\n', 'first') };
  const own = { TOWHOOK_API_KEY_FILE: await fileWith('key-of-a-person\n', 'own') };
  expect(loadCommandLineSettings({ ...other, ...first }).apiKey).toBe('the-first-key');
  expect(loadCommandLineSettings({ ...other, ...first, ...own }).apiKey).toBe('key-of-a-person');
  expect(() => loadCommandLineSettings({ TOWHOOK_API_KEY_FILE: join(folder, 'none') })).toThrow(
    'TOWHOOK_API_KEY_FILE must name a file that can be read',
  );
});

test('a fault names the variable of the file and the rule, and never the content', async () => {
  const variable = 'WEBHOOK_SECRETS_FILE';
  expect(faultsOf({ [variable]: join(folder, 'none') })).toEqual([
    { variable, rule: 'must name a file that can be read' },
  ]);
  expect(faultsOf({ [variable]: await fileWith('\n') })).toEqual([
    { variable, rule: 'must name a file that is not empty' },
  ]);
  expect(faultsOf({ [variable]: await fileWith('whsec_5521!') })).toEqual([
    { variable, rule: 'must be a comma list of whsec_… secrets' },
  ]);
  expect(faultsOf({ [variable]: await fileWith('whsec_AAAA'), WEBHOOK_SECRETS: 'whsec_AAAA' })).toEqual([
    { variable, rule: 'and WEBHOOK_SECRETS must not both be set' },
  ]);
});

test('a file may not hold a weak secret in production', async () => {
  const faults = faultsOf({ NODE_ENV: 'production', WEBHOOK_SECRETS_FILE: await fileWith('whsec_AAAA') });
  expect(faults.map(({ variable }) => variable)).toEqual(['WEBHOOK_SECRETS_FILE']);
});

test('reading the files again returns their new secrets beside those in variables, by the same rules', async () => {
  const path = await fileWith('whsec_AAAA');
  const config = loadConfig({ WEBHOOK_SECRETS: 'whsec_CCCC', WEBHOOK_SECRETS_TOW_REQUEST_FILE: path });
  await fileWith('whsec_BBBB');
  expect((await reloadWebhookSecrets(config)).secrets).toEqual({
    tow_request: ['whsec_BBBB'],
    tow_invoice: ['whsec_CCCC'],
  });
  await fileWith('whsec_BBBB,broken');
  await expect(reloadWebhookSecrets(config)).rejects.toMatchObject({
    faults: [{ variable: 'WEBHOOK_SECRETS_TOW_REQUEST_FILE' }],
  });
});

test('reading the file of the shared secret again refuses one that no header can carry', async () => {
  const path = await fileWith('a secret of one line');
  const variables = { WEBHOOK_SHARED_SECRET_FILE: path, WEBHOOK_SHARED_SECRET_HEADER: 'x-hook' };
  const config = loadConfig(variables);
  await fileWith('the old secret\tand a tab\n');
  await expect(reloadWebhookSecrets(config)).rejects.toThrow(
    'WEBHOOK_SHARED_SECRET_FILE must have no control characters',
  );
});
