import { z } from 'zod';
import { INSTALLATION_NAME } from './installation';
import { flag, wholeNumber, type Environment } from './variable-rules';

/** The variables of the connection to Redis. Names of files are read when the connections are opened. */

const filePath = z.string().min(1).optional();

/** `host:port`, with IPv6 addresses in brackets; the port may be left out. */
const SENTINEL = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]@/,]+))(?::(\d{1,5}))?$/;
const SENTINEL_PORT = 26_379;
const PORT_MAX = 65_535;

export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

const sentinels = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
  .pipe(z.array(z.string().regex(SENTINEL, 'must be a comma list of host:port')))
  .transform((items) => items.map(addressOf))
  .refine((items) => items.every(({ port }) => port >= 1 && port <= PORT_MAX), `must have ports from 1 to ${PORT_MAX}`);

function addressOf(text: string): ServerAddress {
  const [, ipv6, host, port] = SENTINEL.exec(text) ?? [];
  return { host: ipv6 ?? host ?? text, port: port === undefined ? SENTINEL_PORT : Number(port) };
}

/** The client library takes any text for a database, and fails with it later. */
function isRedisAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { pathname, searchParams } = new URL(text);
  return /^\/?\d*$/.test(pathname) && /^\d*$/.test(searchParams.get('db') ?? '');
}

export const redisVariables = {
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\/.+/, { error: 'must start with redis:// or rediss://', abort: true })
    .refine(
      isRedisAddress,
      'must be an address such as redis://user@host:6379/0, with the number of a database or none',
    )
    .optional()
    .describe(
      'Address of Redis, `redis://user@host:port/database`, or `rediss://` for TLS. Without it an embedded Redis runs in `DATA_DIR`, except with `NODE_ENV=production`, where the start is refused. See [Redis](operations/redis.md).',
    ),
  INSTALLATION: z
    .string()
    .regex(INSTALLATION_NAME, 'must be 1 to 32 of a-z, 0-9 and -')
    .default('main')
    .describe(
      'Name of this installation, the same in all its processes. Installations of different names share nothing on one Redis: it is in the name of every key and channel, a label of metrics, and a field of logs and traces.',
    ),
  REDIS_PASSWORD: z.string().min(1).optional().describe('Password of Redis, instead of one in `REDIS_URL`.'),
  REDIS_PASSWORD_FILE: filePath.describe('File with `REDIS_PASSWORD`, instead of the variable. Read at the start.'),
  REDIS_CA_FILE: filePath.describe(
    'PEM file with certificates of authorities that are trusted for `rediss://` besides the usual ones.',
  ),
  REDIS_CLIENT_CERT_FILE: filePath.describe(
    'PEM file with a certificate that Redis asks of its clients. Both or neither of it and its key.',
  ),
  REDIS_CLIENT_KEY_FILE: filePath.describe('PEM file with the key of that certificate.'),
  REDIS_TLS_SERVER_NAME: z
    .string()
    .min(1)
    .optional()
    .describe('Name that the certificate of Redis must have. The host of `REDIS_URL` if absent.'),
  REDIS_SENTINELS: sentinels.describe(
    'Comma list of Sentinels, `host:port`, port 26379 if absent. They name the master, and the host of `REDIS_URL` is its name at the Sentinels, such as `redis://mymaster`.',
  ),
  REDIS_SENTINEL_PASSWORD: z.string().min(1).optional().describe('Password of the Sentinels, if they ask for one.'),
  REDIS_SENTINEL_PASSWORD_FILE: filePath.describe('The same for `REDIS_SENTINEL_PASSWORD`.'),
  REDIS_MIN_REPLICAS: wholeNumber(z.int().min(0).max(10).default(0)).describe(
    'Replicas that must have a write before it is acknowledged, so that a failover does not lose it. 0 means the master alone. See [Failover](operations/redis.md#failover).',
  ),
  REDIS_STRICT: flag('false').describe(
    'Refuse to start on a Redis that is a replica, has no append-only file, does not sync it at every write, or evicts keys, and on one that does not show these settings. One that cannot be reached is waited for, and judged when it answers.',
  ),
  REDIS_PERSISTENCE: z
    .enum(['checked', 'trusted'])
    .default('checked')
    .describe(
      '`trusted`: the provider of Redis promises that acknowledged writes are never lost, so settings of persistence are not judged, nor those that cannot be read. See [Hosted Redis](operations/redis.md#hosted-redis).',
    ),
  REDIS_SERVER_BIN: z.string().min(1).optional().describe('The `redis-server` to run as the embedded Redis.'),
};

type RedisVariables = z.output<z.ZodObject<typeof redisVariables>>;

/** The settings of the connection to Redis. */
export type RedisSettings = ReturnType<typeof redisSettings>;

export function redisSettings(env: RedisVariables) {
  return {
    /** Null: the embedded Redis. May have credentials. */
    url: env.REDIS_URL ?? null,
    password: env.REDIS_PASSWORD ?? null,
    tls: {
      caFile: env.REDIS_CA_FILE ?? null,
      clientCertFile: env.REDIS_CLIENT_CERT_FILE ?? null,
      clientKeyFile: env.REDIS_CLIENT_KEY_FILE ?? null,
      serverName: env.REDIS_TLS_SERVER_NAME ?? null,
    },
    /** Empty: the server of the address itself. */
    sentinels: env.REDIS_SENTINELS,
    sentinelPassword: env.REDIS_SENTINEL_PASSWORD ?? null,
    minReplicas: env.REDIS_MIN_REPLICAS,
    isStrict: env.REDIS_STRICT,
    trustsPersistence: env.REDIS_PERSISTENCE === 'trusted',
    serverBinary: env.REDIS_SERVER_BIN ?? null,
  };
}

/** What has no effect without another variable: a mistake rather than a wish. */
const NEEDS_URL = ['REDIS_PASSWORD', 'REDIS_SENTINELS'];
const NEEDS_TLS = ['REDIS_CA_FILE', 'REDIS_CLIENT_CERT_FILE', 'REDIS_TLS_SERVER_NAME'];

/** Faults that only a combination of these variables shows. */
export function redisContradictions(given: Environment): { variable: string; rule: string }[] {
  const url = given['REDIS_URL'];
  const has = (name: string) => given[name] !== undefined;
  // 0 is as if absent, and another rule refuses what is no number.
  const replicas = /^\d*[1-9]\d*$/.test(given['REDIS_MIN_REPLICAS'] ?? '') ? ['REDIS_MIN_REPLICAS'] : [];
  const faults = (names: readonly string[], rule: string) => names.filter(has).map((variable) => ({ variable, rule }));
  return [
    ...(url === undefined ? faults([...NEEDS_URL, ...replicas], 'needs REDIS_URL') : []),
    ...(url !== undefined && !url.startsWith('rediss://') ? faults(NEEDS_TLS, 'needs a REDIS_URL of rediss://') : []),
    ...(has('REDIS_SENTINELS') ? [] : faults(['REDIS_SENTINEL_PASSWORD'], 'needs REDIS_SENTINELS')),
    ...(url !== undefined && hasPassword(url)
      ? faults(['REDIS_PASSWORD'], 'and a password in REDIS_URL must not both be set')
      : []),
    ...(has('REDIS_CLIENT_CERT_FILE') === has('REDIS_CLIENT_KEY_FILE')
      ? []
      : [{ variable: 'REDIS_CLIENT_CERT_FILE', rule: 'and REDIS_CLIENT_KEY_FILE must be set together' }]),
  ];
}

function hasPassword(url: string): boolean {
  return URL.canParse(url) && new URL(url).password !== '';
}
