import type { ConnectionOptions } from 'node:tls';
import { type RedisOptions, SentinelConnector, type SentinelConnectionOptions } from 'ioredis';
import type { RedisSettings, ServerAddress } from '../../platform/config/redis-variables';
import type { DataKeys } from '../../platform/data-keys';
import { openSecureContext } from '../../platform/tls-files';

/** How a Redis is reached. All connections of a process are opened with one access. */
export interface RedisAccess {
  /** With the credentials. With Sentinels its host is the name of the master. */
  readonly url: string;
  /** Empty: the server of the address itself. */
  readonly sentinels: readonly ServerAddress[];
  readonly sentinelPassword: string | null;
  /** How many replicas must have what is acknowledged; 0: the master alone. */
  readonly minReplicas: number;
  /** For `rediss://`: trust, certificate of the client and name of the server. */
  readonly tls: ConnectionOptions;
  /** See RedisConnection. */
  readonly dataKeys: DataKeys | null;
}

/**
 * The access to the Redis at `url`, with the password of its own variable and the files of certificates, which are read
 * here.
 *
 * @throws ConfigurationError that names the variable of a file that cannot be used.
 */
export function openAccess(settings: RedisSettings, url: string, dataKeys: DataKeys | null): RedisAccess {
  const { password, sentinels, sentinelPassword, minReplicas, tls } = settings;
  const secureContext = openSecureContext(tls, 'REDIS');
  return {
    url: password === null ? url : withPassword(url, password),
    sentinels,
    sentinelPassword,
    minReplicas,
    dataKeys,
    tls: {
      ...(secureContext === null ? {} : { secureContext }),
      ...(tls.serverName === null ? {} : { servername: tls.serverName }),
    },
  };
}

/** The access to a Redis of this machine that needs nothing else. */
export function privateAccess(url: string, dataKeys: DataKeys | null): RedisAccess {
  return { url, sentinels: [], sentinelPassword: null, minReplicas: 0, tls: {}, dataKeys };
}

function withPassword(url: string, password: string): string {
  const address = new URL(url);
  address.password = encodeURIComponent(password);
  return address.href;
}

/** How long a Sentinel may take to name the master, ms. */
const SENTINEL_REPLY_MS = 800;
/** How long a lost subscription to the failovers of a Sentinel is left alone, ms. */
const SENTINEL_RECONNECT_MS = 5000;

type AccessOptions = Pick<
  RedisOptions,
  | 'tls'
  | 'Connector'
  | 'sentinels'
  | 'name'
  | 'role'
  | 'sentinelPassword'
  | 'sentinelTLS'
  | 'enableTLSForSentinelMode'
  | 'sentinelCommandTimeout'
  | 'failoverDetector'
  | 'sentinelReconnectStrategy'
>;

/** The options of the client library for one access. Times are left to the connection. */
export function optionsOf({ url, sentinels, sentinelPassword, tls }: RedisAccess): AccessOptions {
  const isTls = url.startsWith('rediss://');
  if (sentinels.length === 0) return isTls ? { tls } : {};
  return {
    Connector: MasterConnector,
    sentinels: [...sentinels],
    name: new URL(url).hostname,
    role: 'master',
    ...(sentinelPassword === null ? {} : { sentinelPassword }),
    ...(isTls ? { tls, sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
    sentinelCommandTimeout: SENTINEL_REPLY_MS,
    // A master that was replaced may keep its connections open, such as behind a broken network.
    failoverDetector: true,
    sentinelReconnectStrategy: () => SENTINEL_RECONNECT_MS,
  };
}

/**
 * Finds the master at the Sentinels. A failover that the subscription of the previous connection announces would cancel
 * the search of the next one, and ioredis then ends the client for good. So that subscription ends first.
 */
class MasterConnector extends SentinelConnector {
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares its own options as unknown here.
    super(options as SentinelConnectionOptions);
  }

  override connect(...parameters: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(...parameters);
  }
}
