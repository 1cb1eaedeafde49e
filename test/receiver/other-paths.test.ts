import request from 'supertest';
import { createDeliveryStore } from '../../src/store/webhook/deliveries';
import { useApp } from '../support/app';
import { bodyOf, deliver, deliveriesIn, newSecret, signed, towInvoice, towRequest } from './calls';

const EVENT = { event: 'ticket.created', ticket: { id: 7 } };

function post(url: string, path: string, body: object | string, headers: Readonly<Record<string, string>> = {}) {
  return request(url).post(path).type('application/json').set(headers).send(body);
}

describe('receiver: paths', () => {
  const app = useApp({ role: 'receiver' });
  const others = () => createDeliveryStore(app.foundation.redis).others(200);

  it('takes both webhooks under any prefix, with slashes at the end and in any case', async () => {
    const paths = ['/anything/tow-request', '/tow-request/', '/A/B/TOW-REQUEST//', '/x/y/tow/invoice', '/Tow/Invoice/'];
    for (const [at, path] of paths.entries()) {
      const webhook = { ...(path.toLowerCase().includes('invoice') ? towInvoice() : towRequest()), metadata: { at } };
      await post(app.receiverUrl, path, { ...webhook, metadata: { id: `${at}` } }).expect(200, { code: 'accepted' });
    }
    const kinds = (await deliveriesIn(app.foundation)).map(({ kind }) => kind);
    expect(kinds.toSorted()).toEqual(['tow_invoice', 'tow_invoice', 'tow_request', 'tow_request', 'tow_request']);
    expect(await others()).toEqual([]);
  });

  it.each([
    '/',
    '/tickets',
    '/v2/violations/created',
    '/my-tow-request',
    '/invoice',
    '/healthz',
    '/readyz',
    '/metrics',
  ])('answers a JSON object on %s with 200, keeps it, and makes no delivery of it', async (path) => {
    await post(app.receiverUrl, path, EVENT).expect(200, { code: 'not_for_towhook' });
    expect(await others()).toMatchObject([{ path, verified: false, raw_body: JSON.stringify(EVENT) }]);
    expect(await deliveriesIn(app.foundation)).toEqual([]);
  });

  it.each([
    ['/tow-request', EVENT],
    ['/tow/invoice', { ...EVENT, metadata: { id: '7' } }],
    ['/tow-request', { type: 'capacity', data: [{ zoneId: 'z', availableSlots: 4 }] }],
    ['/tow-request', {}],
  ])('answers another event on %s with 200, keeps it, and counts it as on other paths: %j', async (path, event) => {
    await post(app.receiverUrl, path, event).expect(200, { code: 'not_for_towhook' });
    expect(await others()).toMatchObject([{ path, raw_body: JSON.stringify(event) }]);
    expect(await deliveriesIn(app.foundation)).toEqual([]);
    const { text } = await app.foundation.metrics.text();
    expect(text).toMatch(
      /towhook_webhook_answers_total\{kind="other",status="200",outcome="not_for_towhook",installation="main"\} [1-9]/,
    );
  });

  it.each([
    { violation_reference_id: 'V-1' },
    { event: 'tow', violationReferenceId: 'V-1' },
    { data: { 'Towing-Reference-Id': 7.5 } },
    { payload: { tow: { towing_reference_id: 'TW-1' } } },
    { events: [{ towing_invoice: {} }] },
    { towing_reference_id: null },
  ])('answers %j on the path of a webhook with 400 and names the field', async (body) => {
    const response = await deliver(app.receiverUrl, '/tow-request', body).expect(400);
    expect(bodyOf(response).details).toMatchObject([{ field: 'towing_reference_id' }]);
    expect(await others()).toEqual([]);
  });

  it('keeps the newest 200 calls on other paths, each up to 16,384 characters', async () => {
    const long = { text: 'x'.repeat(20_000) };
    await Promise.all(Array.from({ length: 201 }, () => post(app.receiverUrl, '/tickets', EVENT)));
    await post(app.receiverUrl, '/tickets', long).expect(200);
    const kept = await others();
    expect(kept).toHaveLength(200);
    expect([kept[0]?.length, kept[0]?.raw_body.length]).toEqual([JSON.stringify(long).length, 16_384]);
  });

  it('answers 404 for other methods and for content on other paths that is not JSON', async () => {
    await request(app.receiverUrl).get('/tickets').expect(404);
    await request(app.receiverUrl).get('/favicon.ico').expect(404);
    await request(app.receiverUrl).put('/tickets').send(EVENT).expect(404);
    await request(app.receiverUrl).post('/tickets').type('form').send({ a: '1' }).expect(404);
    expect(await others()).toEqual([]);
  });

  it.each(['[]', '"text"', 'no JSON', ''])('answers the body %j on another path with 400', async (body) => {
    await post(app.receiverUrl, '/tickets', body).expect(400);
    expect(await others()).toEqual([]);
  });

  it('stores a webhook with a byte order mark or a numeric reference once, however it is repeated', async () => {
    const numeric = JSON.stringify(towRequest({ towing_reference_id: 'N' })).replace('"N"', '90071992547409931');
    for (const body of [numeric, ` ${numeric}`, `\ufeff${numeric}`]) {
      const response = await deliver(app.receiverUrl, '/tow-request', Buffer.from(body)).expect(200);
      expect(bodyOf(response).code).toBe(body === numeric ? 'accepted' : 'already_known');
    }
    // The next integer has the same value in JavaScript.
    await deliver(app.receiverUrl, '/tow-request', numeric.replace('931', '930')).expect(200, { code: 'accepted' });
    const refs = (await deliveriesIn(app.foundation)).map(({ towingReferenceId }) => towingReferenceId);
    expect(refs.toSorted()).toEqual(['90071992547409930', '90071992547409931']);
  });
});

describe('receiver: verification on other paths', () => {
  const secret = newSecret();
  const app = useApp({
    role: 'receiver',
    environment: { WEBHOOK_SECRETS_TOW_REQUEST: newSecret(), WEBHOOK_SECRETS_TOW_INVOICE: secret },
  });

  it('accepts a call that is signed with the secret of either webhook, and refuses others with 401', async () => {
    const body = JSON.stringify(EVENT);
    await post(app.receiverUrl, '/tickets', body, signed(body, { secret })).expect(200);
    await post(app.receiverUrl, '/tickets', body, signed(body, { secret: newSecret() })).expect(401);
    await post(app.receiverUrl, '/tickets', body).expect(401);
    const [kept, ...rest] = await createDeliveryStore(app.foundation.redis).others(200);
    expect([kept?.verified, rest]).toEqual([true, []]);
  });
});
