import { PARTITION } from '../../src/store/keys';
import { createTowStore } from '../../src/store/tows';
import { EVERY_TOW } from '../../src/workflow/list-port';
import { startApp, useApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import { deliveriesIn, keysIn, post, towInvoice, towOf, towRequest } from './calls';

describe('with workers', () => {
  const app = useApp();

  it('50 copies of a tow request at the same time are 50 x 200, one delivery and one tow', async () => {
    const copies = Array.from({ length: 50 }, () => post(app.receiverUrl, '/tow-request', towRequest()));
    const answers = await Promise.all(copies);
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(answers.filter(({ body }) => body.code === 'accepted')).toHaveLength(1);
    await towOf(app, 'TW-20261120-9F4D1A');
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ copies: 50 }]);
    const { items } = await createTowStore(app.foundation.redis).list({
      ...EVERY_TOW,
      cursor: null,
      limit: 10,
    });
    expect(items).toHaveLength(1);
  });

  it('50 deliveries of one tow request at the same time make exactly one tow', async () => {
    const calls = Array.from({ length: 50 }, (_, at) =>
      post(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': `msg_${at}` }),
    );
    expect(new Set((await Promise.all(calls)).map(({ body }) => body.code))).toEqual(new Set(['accepted']));
    const verdicts = await eventually(async () => {
      const deliveries = await deliveriesIn(app.foundation);
      expect(deliveries.filter(({ state }) => state === 'processed')).toHaveLength(50);
      return deliveries.map(({ verdict }) => verdict);
    });
    expect(verdicts.filter((verdict) => verdict === 'created')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'already_known')).toHaveLength(49);
    const tow = await towOf(app, 'TW-20261120-9F4D1A');
    expect(tow.timeline.filter(({ type }) => type === 'tow.requested')).toHaveLength(1);
  });

  it('an invoice that comes before its tow request is attached once the tow is there', async () => {
    await post(app.receiverUrl, '/tow/invoice', towInvoice());
    await eventually(async () => {
      expect(await deliveriesIn(app.foundation)).toMatchObject([{ state: 'parked' }]);
    });
    await post(app.receiverUrl, '/tow-request', towRequest());
    await eventually(async () => {
      const { invoices } = await towOf(app, 'TW-20261120-9F4D1A');
      expect(invoices).toMatchObject([{ source: 'webhook', towing_invoice: { invoice_number: 'INV-1' } }]);
    });
  });
});

describe('without workers', () => {
  const receiver = useApp({ role: 'receiver' });

  /** Starts what the receiver is missing, runs the check, and ends it again. */
  async function withWorkers(check: (app: App) => Promise<void>): Promise<void> {
    const app = await startApp({ redisUrl: receiver.redis.url });
    try {
      await check(app);
    } finally {
      await app.stop();
    }
  }

  it('a call acknowledged while no worker can be woken is processed later all the same', async () => {
    // The queue numbers its jobs here; while it cannot, no job can be added.
    const counter = `${PARTITION}:deliveries:id`;
    await receiver.redis.ask('RPUSH', counter, 'not a number');
    expect((await post(receiver.receiverUrl, '/tow-request', towRequest())).status).toBe(200);
    await receiver.redis.ask('DEL', counter);
    expect((await keysIn(receiver.redis)).filter((key) => key.startsWith(`${PARTITION}:deliveries:`))).toEqual([]);
    await withWorkers(async (app) => {
      expect(await towOf(app, 'TW-20261120-9F4D1A')).toMatchObject({ state: 'requested' });
    });
  });

  it('every call acknowledged is processed after all queues were thrown away', async () => {
    const refs = Array.from({ length: 20 }, (_, at) => `TW-${at}`);
    for (const ref of refs) await post(receiver.receiverUrl, '/tow-request', towRequest({ towing_reference_id: ref }));
    const jobs = await eventually(async () => {
      const keys = (await keysIn(receiver.redis)).filter((key) => key.startsWith(`${PARTITION}:deliveries:`));
      expect(keys.length).toBeGreaterThan(refs.length);
      return keys;
    });
    await receiver.redis.ask('DEL', ...jobs);
    await withWorkers(async (app) => {
      for (const ref of refs) expect(await towOf(app, ref)).toMatchObject({ state: 'requested' });
    });
  });
});
