import { KEYS } from '../../src/store/keys';
import { idsIn, readAll } from '../archive/folder';
import { standings } from '../support/conservation';
import { KEEP_NOTHING, useRetention, type Retention } from '../support/retention';
import { towInvoice, towRequest, type Stores } from '../support/stores';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

const archived = () => idsIn(dataDir.path, { type: 'delivery' });
const stateOf = async (id: string) => (await stores.deliveries.read(id))?.state;

/** Makes it so long since an invoice was parked that a person is asked. */
async function askAbout(id: string): Promise<void> {
  await stores.redis.hset(`{towhook-main}:delivery:${id}`, 'parkedAtMs', 1);
  await stores.process(id);
}

async function resolveParked(ref: string): Promise<void> {
  expect(await stores.resolve(`invoice_parked.${ref}`)).toBe('done');
}

test('deliveries are archived with their raw bodies, and their tow stays unchanged', async () => {
  await stores.request('T1');
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  await retention.sweepAll();

  const request = { kind: 'tow_request', verdict: 'created', rawBody: JSON.stringify(towRequest('T1')) };
  const invoice = { kind: 'tow_invoice', verdict: 'attached', rawBody: JSON.stringify(towInvoice('T1')) };
  expect(await readAll(dataDir.path, { type: 'delivery' })).toMatchObject([
    { id: 'request-T1', data: request },
    { id: 'invoice-T1', data: invoice },
  ]);
  for (const id of ['invoice-T1', 'request-T1']) expect(await stores.deliveries.read(id)).toBeNull();
  expect((await stores.deliveries.list({ cursor: null, limit: 10 })).items).toEqual([]);
  expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(1);
  expect(await standings(stores.redis)).toEqual({ deliveries: {}, reports: {} });
});

test('an archived delivery has exactly the fields of the record', async () => {
  await stores.request('T1');
  const { items } = await stores.deliveries.list({ cursor: null, limit: 10 });

  await retention.sweepAll();

  expect((await readAll(dataDir.path, { type: 'delivery' })).map(({ data }) => data)).toEqual(items);
});

test('a delivery stays in Redis for its retention time and while it is not processed', async () => {
  await stores.request('T1');
  await stores.acceptInvoice('T1', 'waiting');
  await stores.acceptInvoice('T2', 'parked');
  await stores.process('parked');

  await retention.sweepAll({ keep: { ...KEEP_NOTHING, deliveriesMs: 60_000 } });
  expect(await stateOf('request-T1')).toBe('processed');

  await retention.sweepAll();
  expect(await stateOf('request-T1')).toBeUndefined();
  expect(await stateOf('waiting')).toBe('waiting');
  expect(await stateOf('parked')).toBe('parked');
});

test('a delivery replayed while it is archived stays in Redis and is archived again once it is processed', async () => {
  await stores.request('T1');
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  await retention.sweep({
    archive: {
      async append(records) {
        await retention.tools.archive.append(records);
        if (records[0]?.type === 'delivery') await stores.replay('invoice-T1');
      },
    },
  });
  expect(await stateOf('invoice-T1')).toBe('waiting');

  await stores.process('invoice-T1');
  await retention.sweepAll();
  expect(await stateOf('invoice-T1')).toBeUndefined();
  expect(await archived()).toEqual(['request-T1', 'invoice-T1', 'invoice-T1']);
});

test('a delivery replayed and processed since it was read for the archive is not removed', async () => {
  await stores.request('T1');
  const version = await retention.tools.retention.versionOf('delivery', 'request-T1');
  await stores.replay('request-T1');
  expect(await stores.process('request-T1')).toBe('already_known');

  expect(await retention.tools.retention.remove('delivery', 'request-T1', version)).toBe('kept');
  expect(await stateOf('request-T1')).toBe('processed');

  await retention.sweepAll();
  expect(await stateOf('request-T1')).toBeUndefined();
});

test('a delivery of which a copy came since it was read for the archive is removed', async () => {
  await stores.acceptInvoice('T1');
  await stores.request('T1');
  await stores.process('invoice-T1');
  const version = await retention.tools.retention.versionOf('delivery', 'invoice-T1');
  await stores.acceptInvoice('T1');
  expect(await stores.deliveries.read('invoice-T1')).toMatchObject({ state: 'processed', copies: 2 });

  expect(await retention.tools.retention.remove('delivery', 'invoice-T1', version)).toBe('removed');
});

test('a resend of an archived delivery does not change its tow', async () => {
  await stores.request('T1');
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await retention.sweepAll();

  expect(await stores.acceptInvoice('T1')).toBe('accepted');
  expect(await stores.process('invoice-T1')).toBe('attached');

  expect((await stores.read('T1')).tow.invoiceWebhooks).toHaveLength(1);
});

describe('retention of invoices for unknown tows', () => {
  test('an invoice for an unknown tow is set aside when its task is resolved, and then archived', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await askAbout('invoice-T1');

    await resolveParked('T1');

    expect(await stores.deliveries.read('invoice-T1')).toMatchObject({ state: 'processed', verdict: 'set_aside' });
    expect(await standings(stores.redis)).toMatchObject({ deliveries: { finished: 1 } });
    await retention.sweepAll();
    expect(await archived()).toEqual(['invoice-T1']);
    expect(await stores.redis.keys('*T1*')).toEqual([]);
  });

  test('resolving the task of an invoice sets aside that invoice only, not a later one for the same tow', async () => {
    for (const id of ['first', 'second']) {
      await stores.acceptInvoice('T1', id);
      await stores.process(id);
    }
    await askAbout('first');

    await resolveParked('T1');

    expect(await stateOf('first')).toBe('processed');
    expect(await stateOf('second')).toBe('parked');
    await stores.accept('tow_request', { violation_reference_id: 'V-T1', towing_reference_id: 'T1' }, 'request');
    await stores.process('request');
    expect(await stores.process('second')).toBe('attached');
  });

  test('an invoice that was set aside is attached to its tow when it is replayed', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await askAbout('invoice-T1');
    await resolveParked('T1');

    await stores.replay('invoice-T1');
    expect(await stores.process('invoice-T1')).toBe('parked');
    expect(await stores.redis.zscore(KEYS.retireDeliveries, 'invoice-T1')).toBeNull();
    await stores.request('T1');
    expect(await stores.process('invoice-T1')).toBe('attached');
  });
});
