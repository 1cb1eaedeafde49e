import { SentinelConnector, type SentinelConnectionOptions } from 'ioredis';

/**
 * Finds the master at the Sentinels. A failover that the subscription of the previous connection announces would cancel
 * the search of the next one, and ioredis then ends the client for good. So that subscription ends first.
 */
export class MasterConnector extends SentinelConnector {
  constructor(options: unknown) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- ioredis declares its own options as unknown here.
    super(options as SentinelConnectionOptions);
  }

  override connect(...parameters: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(...parameters);
  }
}
