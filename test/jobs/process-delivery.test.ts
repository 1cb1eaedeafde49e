import { processDeliveries, type ProcessDeliveryTools } from '../../jobs/process-delivery';
import { createMetrics } from '../../src/platform/metrics';
import { createCounters } from '../../src/platform/counters';
import { useRedis } from '../support/redis';
import { deliveryTools, openStores, towInvoice, towRequest, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

/** Both workers read the delivery before either of them has processed it. */
async function processTwice(id: string) {
  const counters = createCounters();
  let readings = 0;
  let release = () => {};
  const bothHaveRead = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tools: ProcessDeliveryTools = {
    ...deliveryTools(stores.redis),
    deliveries: {
      read: async (asked) => {
        const delivery = await stores.deliveries.read(asked);
        readings += 1;
        if (readings === 2) release();
        await bothHaveRead;
        return delivery;
      },
    },
    metrics: createMetrics(counters),
  };
  const outcomes = await Promise.all([1, 2].map(() => processDeliveries({ delivery_ids: [id] }, tools)));
  return { verdicts: outcomes.map(({ what }) => what).toSorted(), counted: counters.take().added };
}

test('a tow request that two workers process at the same time is counted once', async () => {
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  const { verdicts, counted } = await processTwice('request-T1');
  expect(verdicts).toEqual(['created', 'settled_before']);
  expect(counted).toMatchObject({ 'processed.tow_request': 1 });
});

test('an invoice that two workers process at the same time is counted once', async () => {
  await stores.request('T1');
  await stores.accept('tow_invoice', towInvoice('T1'), 'invoice-T1');
  const { verdicts, counted } = await processTwice('invoice-T1');
  expect(verdicts).toEqual(['attached', 'settled_before']);
  expect(counted).toMatchObject({ 'processed.tow_invoice': 1 });
});

test('the other deliveries of a job are processed when one fails and cannot be postponed', async () => {
  await stores.accept('tow_request', towRequest('T1'), 'request-T1');
  const unreadable = () => Promise.reject(new Error('unreadable'));
  const tools: ProcessDeliveryTools = {
    ...deliveryTools(stores.redis),
    deliveries: { read: (id) => (id === 'broken' ? unreadable() : stores.deliveries.read(id)) },
    defer: unreadable,
  };

  const outcome = await processDeliveries({ delivery_ids: ['broken', 'request-T1'] }, tools);

  expect(outcome).toEqual({ kind: 'done', what: 'deferred, created' });
  expect((await stores.read('T1')).tow.state).toBe('requested');
});
