import { PARTITION } from '../../src/store/keys';
import { createTowStore } from '../../src/store/tow/tows';
import { ALL_TOWS } from '../../src/workflow/list-port';
import { towOf } from '../operator/client';
import { startApp, useApp, type App } from '../support/app';
import { eventually } from '../support/eventually';
import {
  bodyOf,
  deliver,
  deliveriesIn,
  keysIn,
  newSecret,
  signed,
  towInvoice,
  towRequest,
  type Signing,
} from './calls';

describe('webhook processing with workers', () => {
  const app = useApp();

  it('answers 50 concurrent copies of a tow request with 200 and makes one delivery and one tow', async () => {
    const copies = Array.from({ length: 50 }, () => deliver(app.receiverUrl, '/tow-request', towRequest()));
    const responses = await Promise.all(copies);
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    expect(responses.filter((response) => bodyOf(response).code === 'accepted')).toHaveLength(1);
    await eventually(() => towOf(app, 'TW-20261120-9F4D1A'));
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ copies: 50 }]);
    const { items } = await createTowStore(app.foundation.redis).list({
      ...ALL_TOWS,
      cursor: null,
      limit: 10,
    });
    expect(items).toHaveLength(1);
  });

  it('makes exactly one tow from 50 concurrent deliveries of one tow request', async () => {
    const calls = Array.from({ length: 50 }, (_, at) =>
      deliver(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': `msg_${at}` }),
    );
    expect(new Set((await Promise.all(calls)).map((response) => bodyOf(response).code))).toEqual(new Set(['accepted']));
    const verdicts = await eventually(async () => {
      const deliveries = await deliveriesIn(app.foundation);
      expect(deliveries.filter(({ state }) => state === 'processed')).toHaveLength(50);
      return deliveries.map(({ verdict }) => verdict);
    });
    expect(verdicts.filter((verdict) => verdict === 'created')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'already_known')).toHaveLength(49);
    const tow = await eventually(() => towOf(app, 'TW-20261120-9F4D1A'));
    expect(tow.timeline.filter(({ type }) => type === 'tow.requested')).toHaveLength(1);
  });
});

describe('webhook processing with signatures', () => {
  const secret = newSecret();
  const app = useApp({ environment: { WEBHOOK_SECRETS: secret } });
  const post = async (path: '/tow-request' | '/tow/invoice', content: object, signing: Partial<Signing>) => {
    const body = JSON.stringify(content);
    const response = await deliver(app.receiverUrl, path, body, signed(body, { secret, family: 'svix', ...signing }));
    expect(bodyOf(response).code).toBe('accepted');
  };

  it('shows the invoice that was signed last, although an older one is sent again after it', async () => {
    const invoice = (paid: number) => towInvoice({ towing_invoice: { total_amount: 230, paid_amount: paid, tax: 30 } });
    await post('/tow-request', towRequest(), { id: 'msg_request' });
    await post('/tow/invoice', invoice(230), { id: 'msg_paid' });
    await post('/tow/invoice', invoice(0), { id: 'msg_unpaid', offSeconds: -60 });

    await eventually(async () => {
      const { invoices, tasks } = await towOf(app, 'TW-20261120-9F4D1A');
      expect(invoices.map(({ towing_invoice: towing }) => towing['paid_amount'])).toEqual([0, 230]);
      expect(tasks).toEqual([]);
    });
  });
});

describe('webhook processing without workers', () => {
  const receiver = useApp({ role: 'receiver' });

  /** Starts a process with workers, runs the check, and stops the process. */
  async function withWorkers(check: (app: App) => Promise<void>): Promise<void> {
    const app = await startApp({ redisUrl: receiver.redis.url });
    try {
      await check(app);
    } finally {
      await app.stop();
    }
  }

  it('processes an acknowledged webhook whose queue job could not be added', async () => {
    // The queue keeps its job counter in this key. No job can be added while the value is not a number.
    const counter = `${PARTITION}:deliveries:id`;
    await receiver.redis.ask('RPUSH', counter, 'not a number');
    await deliver(receiver.receiverUrl, '/tow-request', towRequest()).expect(200);
    await receiver.redis.ask('DEL', counter);
    expect((await keysIn(receiver.redis)).filter((key) => key.startsWith(`${PARTITION}:deliveries:`))).toEqual([]);
    await withWorkers(async (app) => {
      expect(await eventually(() => towOf(app, 'TW-20261120-9F4D1A'))).toMatchObject({ state: 'requested' });
    });
  });

  it('adds the job of each webhook to the queue without a worker, one job for each that comes alone', async () => {
    const refs = Array.from({ length: 20 }, (_, at) => `TW-${at}`);
    for (const ref of refs)
      await deliver(receiver.receiverUrl, '/tow-request', towRequest({ towing_reference_id: ref }));
    await eventually(async () => expect(await receiver.redis.ask('LLEN', `${PARTITION}:deliveries:wait`)).toBe(20));
    await withWorkers(async (app) => {
      for (const ref of refs) expect(await eventually(() => towOf(app, ref))).toMatchObject({ state: 'requested' });
    });
  });
});
