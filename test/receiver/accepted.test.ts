import request from 'supertest';
import { deliveryKey, KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { bodyOf, deliver, deliveriesIn, towInvoice, towRequest } from './calls';

const app = useApp({ role: 'receiver' });

describe('receiver: valid webhook', () => {
  it('answers a valid webhook with 200 and only the code accepted', async () => {
    await deliver(app.receiverUrl, '/tow-request', towRequest()).expect(200, { code: 'accepted' });
  });

  it('stores an accepted delivery and schedules it before it answers', async () => {
    await deliver(app.receiverUrl, '/tow-request', towRequest());
    const [delivery] = await deliveriesIn(app.foundation);
    expect(delivery).toMatchObject({ kind: 'tow_request', state: 'waiting', towingReferenceId: 'TW-20261120-9F4D1A' });
    expect(await app.redis.ask('ZRANGE', KEYS.dueDeliveries, '0', '-1')).toEqual([delivery?.id]);
    expect(await app.redis.ask('EXISTS', deliveryKey(delivery?.id ?? ''))).toBe(1);
  });

  it('stores the raw body of a webhook byte for byte, with its unknown fields', async () => {
    const body = `{ "unknown": {"plate":"ا ب ح ١٢٣٤", "n": 1.50},\n\t${JSON.stringify(towRequest()).slice(1)}`;
    await deliver(app.receiverUrl, '/tow-request', body).expect(200);
    expect((await deliveriesIn(app.foundation)).map(({ rawBody }) => rawBody)).toEqual([body]);
  });

  it.each([
    ['no metadata', towRequest({ metadata: undefined })],
    ['metadata null', towRequest({ metadata: null })],
    ['metadata without an id', towRequest({ metadata: { note: 'x' } })],
    ['references of any format', towRequest({ towing_reference_id: 'x', violation_reference_id: 'قطر 7/٣' })],
  ])('accepts a tow request with %s', async (_content, body) => {
    expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body)).code).toBe('accepted');
  });

  it.each([
    ['no delay invoice', towInvoice({ delay_invoice: undefined })],
    ['a delay invoice of null', towInvoice({ delay_invoice: null })],
    [
      'amounts as numeric text',
      towInvoice({ towing_invoice: { total_amount: '115.00', paid_amount: '0', tax: '-1.5' } }),
    ],
    ['an empty towing invoice object', towInvoice({ towing_invoice: {} })],
    ['no metadata', towInvoice({ metadata: undefined })],
  ])('accepts a tow invoice with %s', async (_content, body) => {
    expect(bodyOf(await deliver(app.receiverUrl, '/tow/invoice', body)).code).toBe('accepted');
  });

  it('accepts a webhook whose JSON content type has capital letters and a charset', async () => {
    const headers = { 'content-type': 'Application/JSON; charset=UTF-8' };
    await deliver(app.receiverUrl, '/tow-request', towRequest(), headers).expect(200);
  });
});

describe('receiver: repeated webhook', () => {
  it('answers a repeated webhook with 200 already_known and stores it once when only its JSON formatting differs', async () => {
    const first =
      '{"violation_reference_id":"V-1","towing_reference_id":"TW-1","metadata":{"id":"1","more":{"a":1,"b":[2]}}}';
    const again = ` {\n "metadata": {"more": {"b": [2.0], "a": 1e0}, "id": "\\u0031"},
      "towing_reference_id": "TW-1", "violation_reference_id": "V-1" } `;
    expect((await deliver(app.receiverUrl, '/tow-request', first)).body).toEqual({ code: 'accepted' });
    await deliver(app.receiverUrl, '/tow-request', again).expect(200, { code: 'already_known' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ rawBody: first, copies: 2 }]);
  });

  it('stores the same body once per signature id', async () => {
    const codes: string[] = [];
    for (const id of ['msg_1', 'msg_2', 'msg_1']) {
      const response = await deliver(app.receiverUrl, '/tow-request', towRequest(), { 'webhook-id': id });
      codes.push(bodyOf(response).code);
    }
    expect(codes).toEqual(['accepted', 'accepted', 'already_known']);
    const stored = await deliveriesIn(app.foundation);
    expect(new Set(stored.map(({ signatureId }) => signatureId))).toEqual(new Set(['msg_1', 'msg_2']));
    expect(stored).toHaveLength(2);
  });

  it('stores a webhook as a new delivery when any part of its body differs', async () => {
    const bodies = [
      towRequest(),
      towRequest({ metadata: { id: 'patrol-18' } }),
      towRequest({ extra: null }),
      towRequest({ violation_reference_id: 'V-2' }),
    ];
    for (const body of bodies) {
      expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body)).code).toBe('accepted');
    }
    expect(await deliveriesIn(app.foundation)).toHaveLength(bodies.length);
  });

  it('stores the same body as two deliveries when it arrives on both webhook paths', async () => {
    expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', towInvoice())).code).toBe('accepted');
    expect(bodyOf(await deliver(app.receiverUrl, '/tow/invoice', towInvoice())).code).toBe('accepted');
    const kinds = (await deliveriesIn(app.foundation)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['tow_invoice', 'tow_request']);
  });
});

it('answers an unknown path with 404, another method on the path of a webhook with 405, and stores nothing', async () => {
  const response = await request(app.receiverUrl).post('/tow/requests').type('text/plain').send('{}').expect(404);
  expect(response.body).toMatchObject({ code: 'not_found' });
  await request(app.receiverUrl).get('/tow-request').expect(405).expect('allow', 'POST');
  expect(await deliveriesIn(app.foundation)).toEqual([]);
});

it('answers a path that cannot be decoded with 400, names the path as the cause, and stores nothing', async () => {
  const response = await request(app.receiverUrl).post('/%zz/tow-request').send(towRequest()).expect(400);
  expect(bodyOf(response)).toMatchObject({
    code: 'not_readable',
    message: 'The path contains an invalid percent-encoding.',
  });
  expect(await deliveriesIn(app.foundation)).toEqual([]);
});
