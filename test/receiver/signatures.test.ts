import { verify } from '../../src/receiver/verify';
import { useApp } from '../support/app';
import { deliveriesIn, keysIn, newSecret, post, signed, towInvoice, towRequest } from './calls';

const current = newSecret();
const former = newSecret();
const ofInvoices = newSecret();

const app = useApp({
  role: 'receiver',
  environment: { WEBHOOK_SECRETS: `${current}, ${former}`, WEBHOOK_SECRETS_TOW_INVOICE: ofInvoices },
});

const body = JSON.stringify(towRequest());

describe('with signing secrets, a call is answered 401 and stores nothing', () => {
  const good = () => signed(body, { secret: current });
  it.each([
    ['without headers', () => ({})],
    ['without the id', () => ({ ...good(), 'webhook-id': '' })],
    ['without the time', () => ({ ...good(), 'webhook-timestamp': '' })],
    ['without the signature', () => ({ ...good(), 'webhook-signature': '' })],
    ['with a signature that is none', () => ({ ...good(), 'webhook-signature': 'v1' })],
    ['with another secret', () => signed(body, { secret: newSecret() })],
    ['with the secret of the other address', () => signed(body, { secret: ofInvoices })],
    ['with the signature of another body', () => signed(`${body} `, { secret: current })],
    ['under another id than the signed one', () => ({ ...good(), 'webhook-id': 'msg_2' })],
    [
      'at another time than the signed one',
      () => ({ ...good(), 'webhook-timestamp': `${Math.floor(Date.now() / 1000) - 9}` }),
    ],
    ['at a time that is none', () => ({ ...good(), 'webhook-timestamp': 'now' })],
    ['signed more than 5 minutes ago', () => signed(body, { secret: current, offSeconds: -303 })],
    ['signed more than 5 minutes ahead', () => signed(body, { secret: current, offSeconds: 303 })],
    [
      'with a signature of another version',
      () => {
        const headers = good();
        return { ...headers, 'webhook-signature': (headers['webhook-signature'] ?? '').replace('v1,', 'v1a,') };
      },
    ],
  ])('%s', async (_what, headers) => {
    const answered = await post(app.receiverUrl, '/tow-request', body, headers());
    expect([answered.status, answered.body.code]).toEqual([401, 'not_verified']);
    expect(JSON.stringify(answered.body)).not.toContain(current.slice(6));
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('with signing secrets, a call is verified', () => {
  it.each([
    ['by webhook-* headers', () => signed(body, { secret: current })],
    ['by svix-* headers', () => signed(body, { secret: current, family: 'svix' })],
    ['by the former secret while secrets are rotated', () => signed(body, { secret: former })],
    ['nearly 5 minutes late', () => signed(body, { secret: current, offSeconds: -295 })],
    ['nearly 5 minutes early', () => signed(body, { secret: current, offSeconds: 295 })],
    [
      'by one of several signatures',
      () => {
        const headers = signed(body, { secret: current });
        const others = `v1,${Buffer.alloc(32).toString('base64')} v1a,abc`;
        return { ...headers, 'webhook-signature': `${others} ${headers['webhook-signature']}` };
      },
    ],
  ])('%s', async (_what, headers) => {
    expect((await post(app.receiverUrl, '/tow-request', body, headers())).body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: true, signatureId: 'msg_1' }]);
  });

  it.each([
    ['odd white space', ` {\r\n\t"towing_reference_id" :"TW-1" ,"violation_reference_id": "V-1"}\n\n`],
    ['letters of both scripts and an emoji', JSON.stringify(towRequest({ metadata: { id: 'أ ب ح ١٢٣٤ 🚗 é' } }))],
    ['escapes', String.raw`{"towing_reference_id":"TW\u002d1","violation_reference_id":"V\/1"}`],
  ])('over the bytes as they were sent: %s', async (_what, text) => {
    const answered = await post(app.receiverUrl, '/tow-request', text, signed(text, { secret: current }));
    expect(answered.body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ rawBody: text, verified: true }]);
  });

  it('by the secrets of its own address where it has some', async () => {
    const invoice = JSON.stringify(towInvoice());
    const byOwn = await post(app.receiverUrl, '/tow/invoice', invoice, signed(invoice, { secret: ofInvoices }));
    const byCommon = await post(app.receiverUrl, '/tow/invoice', invoice, signed(invoice, { secret: current }));
    expect([byOwn.status, byCommon.status]).toEqual([200, 401]);
  });
});

it('a signature that is good over something that is not JSON is told so: 400, not 401', async () => {
  const text = 'towing_reference_id=TW-1';
  const answered = await post(app.receiverUrl, '/tow-request', text, signed(text, { secret: current }));
  expect([answered.status, answered.body.code]).toEqual([400, 'not_json']);
});

it('a resend is signed anew and is the same delivery', async () => {
  const first = signed(body, { secret: current, offSeconds: -20 });
  const again = signed(body, { secret: former });
  expect((await post(app.receiverUrl, '/tow-request', body, first)).body.code).toBe('accepted');
  expect((await post(app.receiverUrl, '/tow-request', body, again)).body.code).toBe('already_known');
});

it('a copied call is no other delivery under an id that nobody signed', async () => {
  const headers = signed(body, { secret: current, family: 'svix' });
  expect((await post(app.receiverUrl, '/tow-request', body, headers)).body.code).toBe('accepted');
  const copied = await post(app.receiverUrl, '/tow-request', body, { ...headers, 'webhook-id': 'msg_of_a_stranger' });
  expect(copied.body.code).not.toBe('accepted');
  expect(await deliveriesIn(app.foundation)).toHaveLength(1);
});

it('a secret that no signature can be checked with waves no call through', () => {
  const headers = signed(body, { secret: newSecret() });
  expect(verify(Buffer.from(body), headers, { secrets: ['whsec_AAA'], sharedSecret: null }).kind).toBe('rejected');
});
