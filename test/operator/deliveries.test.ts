import request from 'supertest';
import { z } from 'zod';
import { deliveryDetail } from '../../src/contracts/operator';
import { refusedCall } from '../../src/contracts/webhook/webhooks';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, deliveriesPage, errorOf, refsFound, towOf } from './client';
import { deliver } from './world';

const app = useApp();
/** It has its own Redis, because the workers of `app` would process the deliveries of a shared one. */
const withoutWorkers = useApp({ role: 'console', ownRedis: true });

const REF = 'TW-20261120-9F4D1A';
const TOW_REQUEST = '{ "towing_reference_id":"TW-20261120-9F4D1A", "violation_reference_id": "V-1", "more": [1.50] }';

/** Posts a webhook call as the service does, and returns the status. */
async function postWebhook(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const call = request(app.receiverUrl).post(path).type('application/json').set(headers).send(body);
  return (await call).status;
}

async function detailOf(id: string) {
  return deliveryDetail.parse((await api(app).get(`/api/deliveries/${id}`)).body);
}

/** Waits until the only delivery is processed, and returns its id. */
async function processed() {
  return eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['processed']);
    return z.string().parse(items[0]?.id);
  });
}

describe('operator API: deliveries', () => {
  it('lists a delivery with its verdict but without its body, and shows the body byte for byte in its detail', async () => {
    await postWebhook('/tow-request', TOW_REQUEST, { 'webhook-id': 'msg_1' });
    await postWebhook('/tow-request', TOW_REQUEST, { 'webhook-id': 'msg_1' });
    const id = await processed();
    const listed = (await deliveriesPage(app)).items[0];
    expect(listed).toMatchObject({
      kind: 'tow_request',
      verdict: 'created',
      towing_reference_id: REF,
      verified: false,
      signature_id: 'msg_1',
      copies: 2,
      replays: 0,
    });
    expect(JSON.stringify((await api(app).get('/api/deliveries')).body)).not.toContain('1.50');
    expect(await detailOf(id)).toEqual({ ...listed, raw_body: TOW_REQUEST, differences: [] });
    expect(Date.parse(listed?.processed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(listed?.received_at ?? ''));
  });

  it('lists an invoice delivery as parked while its tow is unknown', async () => {
    await postWebhook(
      '/tow/invoice',
      `{"towing_reference_id":"${REF}","violation_reference_id":"V-1","towing_invoice":{}}`,
    );
    await eventually(async () => {
      expect((await deliveriesPage(app)).items).toMatchObject([{ state: 'parked', verdict: null, processed_at: null }]);
    });
  });
});

describe('operator API: replays of deliveries', () => {
  it('processes a replayed tow request again and creates no second tow', async () => {
    await postWebhook('/tow-request', TOW_REQUEST);
    const id = await processed();
    const response = await api(app).post(`/api/deliveries/${id}/replay`).send({});
    expect(response.status).toBe(202);
    expect(deliveryDetail.parse(response.body)).toMatchObject({ id, replays: 1, raw_body: TOW_REQUEST });
    await eventually(async () => {
      expect(await detailOf(id)).toMatchObject({ state: 'processed', verdict: 'already_known', replays: 1 });
    });
    expect(await refsFound(app)).toEqual([REF]);
    expect((await towOf(app, REF)).timeline.map(({ type }) => type)).toEqual(['tow.requested']);
  });

  it('does not attach an invoice a second time when its delivery is replayed', async () => {
    await postWebhook('/tow-request', TOW_REQUEST);
    await processed();
    const invoice = {
      towing_reference_id: REF,
      violation_reference_id: 'V-1',
      towing_invoice: { total_amount: '115' },
    };
    await postWebhook('/tow/invoice', JSON.stringify(invoice));
    await eventually(async () => expect((await towOf(app, REF)).invoices).toHaveLength(1));
    const [newest] = (await deliveriesPage(app)).items;
    await api(app).post(`/api/deliveries/${newest?.id}/replay`).send({}).expect(202);
    await eventually(async () =>
      expect(await detailOf(newest?.id ?? '')).toMatchObject({ state: 'processed', replays: 1 }),
    );
    expect((await towOf(app, REF)).invoices).toHaveLength(1);
  });

  it('schedules a replayed delivery in the store, so that it does not depend on the job that wakes a worker', async () => {
    const body = { towing_reference_id: REF, violation_reference_id: 'V-1' };
    const { id } = await deliver(withoutWorkers, 'tow_request', body);
    const dueAt = () => withoutWorkers.redis.ask('ZSCORE', KEYS.dueDeliveries, id);
    expect(await dueAt()).toBeNull();
    await api(withoutWorkers).post(`/api/deliveries/${id}/replay`).send({}).expect(202);
    expect(await dueAt()).not.toBeNull();
  });

  it('refuses to replay an unknown delivery with 404', async () => {
    const response = await api(app).post('/api/deliveries/dlv_unknown/replay').send({});
    expect([response.status, errorOf(response).code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('operator API: refused webhook calls', () => {
  it('lists refused calls newest first, and not among the deliveries', async () => {
    expect(await postWebhook('/tow-request', '{"towing_reference_id": ""}')).toBe(400);
    expect(await postWebhook('/tow/invoice', 'no JSON')).toBe(400);
    const refused = z.object({ items: z.array(refusedCall) });
    await eventually(async () => {
      const { items } = refused.parse((await api(app).get('/api/refused-calls')).body);
      expect(items).toMatchObject([
        { path: '/tow/invoice', reason: 'not_json', body_kind: 'text', details: [{ field: 'body' }] },
        { path: '/tow-request', reason: 'contract_broken', details: [{ field: 'towing_reference_id' }] },
      ]);
    });
    expect((await deliveriesPage(app)).items).toEqual([]);
  });
});
