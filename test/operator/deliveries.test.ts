import { z } from 'zod';
import { deliveryDetail } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { quarantined } from '../../src/contracts/records';
import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliveriesPage, errorOf, get, post, refsFound, towOf } from './client';
import { deliver } from './world';

const app = useApp();
const withoutWorkers = useApp({ role: 'console' });

const REF = 'TW-20261120-9F4D1A';
const TOW_REQUEST = '{ "towing_reference_id":"TW-20261120-9F4D1A", "violation_reference_id": "V-1", "more": [1.50] }';

/** Posts a webhook call as the service does. */
async function postWebhook(path: string, body: string, headers: Record<string, string> = {}): Promise<number> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return (await fetch(`${app.receiverUrl}${path}`, init)).status;
}

async function detailOf(id: string) {
  return deliveryDetail.parse((await get(app, `/api/deliveries/${id}`)).json);
}

/** The one delivery there is, once it is processed. */
async function processed() {
  return eventually(async () => {
    const { items } = await deliveriesPage(app);
    expect(items.map(({ state }) => state)).toEqual(['processed']);
    return z.string().parse(items[0]?.id);
  });
}

describe('a delivery', () => {
  it('is listed without its body and shown with it, byte for byte, and with what became of it', async () => {
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
    expect(JSON.stringify((await get(app, '/api/deliveries')).json)).not.toContain('1.50');
    expect(await detailOf(id)).toEqual({ ...listed, raw_body: TOW_REQUEST });
    expect(Date.parse(listed?.processed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(listed?.received_at ?? ''));
  });

  it('that waits for its tow says so', async () => {
    await postWebhook(
      '/tow/invoice',
      `{"towing_reference_id":"${REF}","violation_reference_id":"V-1","towing_invoice":{}}`,
    );
    await eventually(async () => {
      expect((await deliveriesPage(app)).items).toMatchObject([{ state: 'parked', verdict: null, processed_at: null }]);
    });
  });
});

describe('a replay', () => {
  it('processes a delivery once more and makes no second tow', async () => {
    await postWebhook('/tow-request', TOW_REQUEST);
    const id = await processed();
    const answer = await post(app, `/api/deliveries/${id}/replay`);
    expect(answer.status).toBe(202);
    expect(deliveryDetail.parse(answer.json)).toMatchObject({ id, replays: 1, raw_body: TOW_REQUEST });
    await eventually(async () => {
      expect(await detailOf(id)).toMatchObject({ state: 'processed', verdict: 'already_known', replays: 1 });
    });
    expect(await refsFound(app)).toEqual([REF]);
    expect((await towOf(app, REF)).timeline.map(({ type }) => type)).toEqual(['tow.requested']);
  });

  it('of an invoice attaches it no second time', async () => {
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
    expect((await post(app, `/api/deliveries/${newest?.id}/replay`)).status).toBe(202);
    await eventually(async () =>
      expect(await detailOf(newest?.id ?? '')).toMatchObject({ state: 'processed', replays: 1 }),
    );
    expect((await towOf(app, REF)).invoices).toHaveLength(1);
  });

  it('is due by itself, whatever becomes of the job that was to wake a worker', async () => {
    const body = { towing_reference_id: REF, violation_reference_id: 'V-1' };
    const { id } = await deliver(withoutWorkers, 'tow_request', body);
    const dueAt = () => withoutWorkers.redis.ask('ZSCORE', KEYS.dueDeliveries, id);
    expect(await dueAt()).toBeNull();
    expect((await post(withoutWorkers, `/api/deliveries/${id}/replay`)).status).toBe(202);
    expect(await dueAt()).not.toBeNull();
  });

  it('of a delivery nobody knows is answered 404', async () => {
    const answer = await post(app, '/api/deliveries/dlv_unknown/replay');
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('the quarantine', () => {
  it('shows the calls that broke the contract, newest first, apart from the deliveries', async () => {
    expect(await postWebhook('/tow-request', '{"towing_reference_id": ""}')).toBe(400);
    expect(await postWebhook('/tow/invoice', 'no JSON')).toBe(400);
    const { json } = await get(app, '/api/deliveries?quarantined=true');
    expect(page(quarantined).parse(json).items).toMatchObject([
      { path: '/tow/invoice', raw_body: 'no JSON', details: [{ field: 'body' }] },
      {
        path: '/tow-request',
        raw_body: '{"towing_reference_id": ""}',
        details: [{ field: 'violation_reference_id' }, { field: 'towing_reference_id' }],
      },
    ]);
    expect((await deliveriesPage(app, { quarantined: 'false' })).items).toEqual([]);
  });
});
