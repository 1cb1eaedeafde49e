import { recordFact } from '../../src/workflow/tow/record-fact';
import { silentLog } from '../../src/platform/log/log';
import { systemClock } from '../../src/platform/clock';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { recordsOf } from '../../src/store/outbox/records';
import { useOwnRedis } from '../support/redis';
import { openStores, START, TESTER, type Stores } from '../support/stores';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

test('a Redis user that may not use the channels records facts nevertheless, and the caller learns that they are stored', async () => {
  await redis.ask('ACL', 'SETUSER', 'mute', 'on', '>password', '~*', '+@all', 'resetchannels');
  const connection = connectFailFast(`redis://mute:password@127.0.0.1:${redis.port}`, { log: silentLog });
  try {
    await whenReady(connection, 5000);
    await stores.request('T1');
    const records = recordsOf(connection, systemClock);

    const effect = await recordFact({ ...stores.progress, records }, { ref: 'T1', command: START, actor: TESTER });

    expect(effect.kind).toBe('done');
    expect(await stores.states('T1')).toEqual(['started pending']);
  } finally {
    connection.disconnect();
    await redis.ask('ACL', 'DELUSER', 'mute');
  }
});
