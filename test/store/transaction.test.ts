import { systemClock, type Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { KEYS } from '../../src/store/keys';
import { createOutboxStore } from '../../src/store/outbox';
import { Records, recordsOf } from '../../src/store/records';
import { entryOf } from '../support/audit';
import { NO_LIMITS } from '../support/budgets';
import { useRedis } from '../support/redis';
import { GRACE_MS, mustClaim, openStores, START, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const LEASE_MS = 20_000;
const settings = { leaseMs: LEASE_MS, unknownGraceMs: GRACE_MS, ...NO_LIMITS };

async function starting(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

test('a decision because there is no tow is made again when one is stored meanwhile', async () => {
  const records = recordsOf(stores.redis);

  await records.transact('any', async (transaction) => {
    const { tow } = await transaction.tow('T1');
    if (tow) return;
    await starting('T1');
    transaction.effect(['ZREM', KEYS.dueTows, 'T1']);
  });

  expect(await stores.dueAt('T1')).not.toBeNull();
});

test('a decision on a processed delivery is made again when it is replayed meanwhile', async () => {
  await stores.request('T1');

  await recordsOf(stores.redis).transact('any', async (transaction) => {
    const delivery = await transaction.delivery('request-T1');
    if (delivery?.state !== 'processed') return;
    await stores.deliveries.replay('request-T1', { audit: entryOf('delivery.replayed'), remember: undefined });
    transaction.effect(['ZREM', KEYS.dueDeliveries, 'request-T1']);
  });

  expect(await stores.redis.zscore(KEYS.dueDeliveries, 'request-T1')).not.toBeNull();
});

test('a process whose clock runs ahead takes no lease that has not ended', async () => {
  await starting('T1');
  await mustClaim(createOutboxStore(stores.redis, systemClock, settings), 'T1');
  const other = connectFailFast(redis.url, { log: silentLog });
  await whenReady(other, 5000);
  let aheadMs = 0;
  const clock: Clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
  };
  const records = recordsOf(other, clock);
  await records.nowMs();
  aheadMs = 2 * LEASE_MS;

  const claim = await createOutboxStore(other, clock, settings).claim('T1');

  expect(claim.kind).toBe('busy');
  other.disconnect();
});

test('a decision does not wait for one of the same line that hangs', async () => {
  const records = new Records(stores.redis, systemClock);
  void records.transact('tow T1', () => new Promise(() => {}));

  expect(await records.transact('tow T1', () => Promise.resolve('decided'))).toEqual({
    kind: 'done',
    value: 'decided',
  });
});
