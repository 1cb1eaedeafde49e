import { ConfigurationError, loadConfig } from '../../src/platform/config/config';

function faultsOf(environment: Record<string, string>): string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults.map(({ variable, rule }) => `${variable} ${rule}`);
    throw error;
  }
}

const PLAIN = 'redis://redis.example';
const SECURE = 'rediss://redis.example';

describe('the variables of Redis', () => {
  test('a list of Sentinels is read with ports, without them, and with IPv6 addresses', () => {
    const { sentinels } = loadConfig({ REDIS_URL: PLAIN, REDIS_SENTINELS: 'a.example:26380, b.example,[::1]:5' }).redis;
    expect(sentinels).toEqual([
      { host: 'a.example', port: 26_380 },
      { host: 'b.example', port: 26_379 },
      { host: '::1', port: 5 },
    ]);
  });

  test.each(['redis://a', 'redis://a/', 'redis://user@a:1/0', 'rediss://[::1]:1/15', 'redis://a/3?family=6'])(
    'the address %j of Redis is taken',
    (url) => {
      expect(loadConfig({ REDIS_URL: url }).redis.url).toBe(url);
    },
  );

  test.each(['redis://a/abc', 'redis://a/-1', 'redis://a/1/2', 'redis://a/?db=abc', 'redis://a:port/0'])(
    'the address %j of Redis is refused, because it names no database by number',
    (url) => {
      expect(faultsOf({ REDIS_URL: url })).toEqual([expect.stringContaining('REDIS_URL must be an address such as')]);
    },
  );

  test.each(['a b', 'redis://a', 'user@a:1', 'a:1:2', 'a:123456'])(
    'the list of Sentinels %j is refused without its text',
    (text) => {
      expect(faultsOf({ REDIS_URL: PLAIN, REDIS_SENTINELS: text })).toEqual([
        'REDIS_SENTINELS must be a comma list of host:port',
      ]);
    },
  );

  test.each(['a:65536', 'a:70000', 'a:1,[::1]:99999', 'a:0'])(
    'the list of Sentinels %j is refused, because a port is out of range',
    (text) => {
      expect(faultsOf({ REDIS_URL: PLAIN, REDIS_SENTINELS: text })).toEqual([
        'REDIS_SENTINELS must have ports from 1 to 65535',
      ]);
    },
  );

  test('a Sentinel may have the last port', () => {
    const { sentinels } = loadConfig({ REDIS_URL: PLAIN, REDIS_SENTINELS: 'a.example:65535' }).redis;
    expect(sentinels).toEqual([{ host: 'a.example', port: 65_535 }]);
  });

  test.each([
    [{ REDIS_PASSWORD: 'secret' }, 'REDIS_PASSWORD needs REDIS_URL'],
    [{ REDIS_SENTINELS: 'a.example' }, 'REDIS_SENTINELS needs REDIS_URL'],
    [{ REDIS_MIN_REPLICAS: '1' }, 'REDIS_MIN_REPLICAS needs REDIS_URL'],
    [{ REDIS_URL: PLAIN, REDIS_CA_FILE: 'ca.pem' }, 'REDIS_CA_FILE needs a REDIS_URL of rediss://'],
    [{ REDIS_URL: PLAIN, REDIS_TLS_SERVER_NAME: 'a' }, 'REDIS_TLS_SERVER_NAME needs a REDIS_URL of rediss://'],
    [{ REDIS_URL: PLAIN, REDIS_SENTINEL_PASSWORD: 'a' }, 'REDIS_SENTINEL_PASSWORD needs REDIS_SENTINELS'],
    [
      { REDIS_URL: 'redis://user:secret@redis.example', REDIS_PASSWORD: 'secret' },
      'REDIS_PASSWORD and a password in REDIS_URL must not both be set',
    ],
    [
      { REDIS_URL: SECURE, REDIS_CLIENT_KEY_FILE: 'key.pem' },
      'REDIS_CLIENT_CERT_FILE and REDIS_CLIENT_KEY_FILE must be set together',
    ],
  ])('%j is refused, because one of the variables has no effect', (environment, fault) => {
    expect(faultsOf(environment)).toEqual([fault]);
  });

  test('no replicas are needed with the embedded Redis', () => {
    expect(faultsOf({ REDIS_MIN_REPLICAS: '0' })).toEqual([]);
  });
});
