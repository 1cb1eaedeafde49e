import { deliveryKey, KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { deliveriesIn, post, towInvoice, towRequest } from './calls';

const app = useApp({ role: 'receiver' });

describe('a call that keeps the contract', () => {
  it('is answered 200 accepted with nothing but the code', async () => {
    const answered = await post(app.receiverUrl, '/tow-request', towRequest());
    expect([answered.status, answered.body]).toEqual([200, { code: 'accepted' }]);
  });

  it('is stored with its due mark before it is answered', async () => {
    await post(app.receiverUrl, '/tow-request', towRequest());
    const [delivery] = await deliveriesIn(app.foundation);
    expect(delivery).toMatchObject({ kind: 'tow_request', state: 'waiting', towingReferenceId: 'TW-20261120-9F4D1A' });
    expect(await app.redis.ask('ZRANGE', KEYS.dueDeliveries, '0', '-1')).toEqual([delivery?.id]);
    expect(await app.redis.ask('EXISTS', deliveryKey(delivery?.id ?? ''))).toBe(1);
  });

  it('is kept byte for byte, with fields nobody knows', async () => {
    const body = `{ "unknown": {"plate":"ا ب ح ١٢٣٤", "n": 1.50},\n\t${JSON.stringify(towRequest()).slice(1)}`;
    expect((await post(app.receiverUrl, '/tow-request', body)).status).toBe(200);
    expect((await deliveriesIn(app.foundation)).map(({ rawBody }) => rawBody)).toEqual([body]);
  });

  it.each([
    ['no metadata', towRequest({ metadata: undefined })],
    ['metadata null', towRequest({ metadata: null })],
    ['metadata without an id', towRequest({ metadata: { note: 'x' } })],
    ['references of any format', towRequest({ towing_reference_id: 'x', violation_reference_id: 'قطر 7/٣' })],
  ])('may have %s', async (_what, body) => {
    expect((await post(app.receiverUrl, '/tow-request', body)).body.code).toBe('accepted');
  });

  it.each([
    ['no delay invoice', towInvoice({ delay_invoice: undefined })],
    ['a delay invoice of null', towInvoice({ delay_invoice: null })],
    [
      'amounts as numeric text',
      towInvoice({ towing_invoice: { total_amount: '115.00', paid_amount: '0', tax: '-1.5' } }),
    ],
    ['an invoice without a field', towInvoice({ towing_invoice: {} })],
    ['no metadata', towInvoice({ metadata: undefined })],
  ])('may, as an invoice, have %s', async (_what, body) => {
    expect((await post(app.receiverUrl, '/tow/invoice', body)).body.code).toBe('accepted');
  });

  it('is taken with a charset in its content type', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=UTF-8' };
    expect((await post(app.receiverUrl, '/tow-request', towRequest(), headers)).status).toBe(200);
  });
});

describe('a call that was stored before', () => {
  it('is answered 200 already_known and stored once, however its JSON is spelled', async () => {
    const first =
      '{"violation_reference_id":"V-1","towing_reference_id":"TW-1","metadata":{"id":"1","more":{"a":1,"b":[2]}}}';
    const again = ` {\n "metadata": {"more": {"b": [2.0], "a": 1e0}, "id": "\\u0031"},
      "towing_reference_id": "TW-1", "violation_reference_id": "V-1" } `;
    expect((await post(app.receiverUrl, '/tow-request', first)).body).toEqual({ code: 'accepted' });
    const answered = await post(app.receiverUrl, '/tow-request', again);
    expect([answered.status, answered.body]).toEqual([200, { code: 'already_known' }]);
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ rawBody: first, copies: 2 }]);
  });

  it('is another delivery under another signature id, and the same under the same', async () => {
    const codes: string[] = [];
    for (const id of ['msg_1', 'msg_2', 'msg_1']) {
      codes.push((await post(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': id })).body.code);
    }
    expect(codes).toEqual(['accepted', 'accepted', 'already_known']);
    const stored = await deliveriesIn(app.foundation);
    expect(new Set(stored.map(({ signatureId }) => signatureId))).toEqual(new Set(['msg_1', 'msg_2']));
    expect(stored).toHaveLength(2);
  });

  it('is another delivery when anything it says differs', async () => {
    const bodies = [
      towRequest(),
      towRequest({ metadata: { id: 'patrol-18' } }),
      towRequest({ extra: null }),
      towRequest({ violation_reference_id: 'V-2' }),
    ];
    for (const body of bodies) {
      expect((await post(app.receiverUrl, '/tow-request', body)).body.code).toBe('accepted');
    }
    expect(await deliveriesIn(app.foundation)).toHaveLength(bodies.length);
  });

  it('is another delivery at the other address', async () => {
    expect((await post(app.receiverUrl, '/tow-request', towInvoice())).body.code).toBe('accepted');
    expect((await post(app.receiverUrl, '/tow/invoice', towInvoice())).body.code).toBe('accepted');
    const kinds = (await deliveriesIn(app.foundation)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['tow_invoice', 'tow_request']);
  });
});

it('an address that is none is answered 404 and stores nothing', async () => {
  const response = await fetch(`${app.receiverUrl}/tow/requests`, { method: 'POST', body: '{}' });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'not_found' });
  expect((await fetch(`${app.receiverUrl}/tow-request`)).status).toBe(404);
  expect(await deliveriesIn(app.foundation)).toEqual([]);
});
