import { verify } from '../../src/receiver/verify';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { bodyOf, deliver, deliveriesIn, keysIn, newSecret, signed, towInvoice, towRequest } from './calls';

const current = newSecret();
const former = newSecret();
const invoiceSecret = newSecret();

const app = useApp({
  role: 'receiver',
  environment: { WEBHOOK_SECRETS: `${current}, ${former}`, WEBHOOK_SECRETS_TOW_INVOICE: invoiceSecret },
});

const body = JSON.stringify(towRequest());

describe('receiver: rejected signatures', () => {
  const valid = () => signed(body, { secret: current });
  it.each([
    ['without signature headers', () => ({})],
    ['with an empty webhook id', () => ({ ...valid(), 'webhook-id': '' })],
    ['with an empty timestamp', () => ({ ...valid(), 'webhook-timestamp': '' })],
    ['with an empty signature', () => ({ ...valid(), 'webhook-signature': '' })],
    ['with a signature that has no value', () => ({ ...valid(), 'webhook-signature': 'v1' })],
    ['signed with an unknown secret', () => signed(body, { secret: newSecret() })],
    ['signed with the secret of the other path', () => signed(body, { secret: invoiceSecret })],
    ['with the signature of another body', () => signed(`${body} `, { secret: current })],
    ['with another id than the signed one', () => ({ ...valid(), 'webhook-id': 'msg_2' })],
    [
      'with another timestamp than the signed one',
      () => ({ ...valid(), 'webhook-timestamp': `${Math.floor(Date.now() / 1000) - 9}` }),
    ],
    ['with a timestamp that is not a number', () => ({ ...valid(), 'webhook-timestamp': 'now' })],
    ['signed more than 5 minutes ago', () => signed(body, { secret: current, offSeconds: -330 })],
    ['signed more than 5 minutes in the future', () => signed(body, { secret: current, offSeconds: 330 })],
    [
      'with a valid signature behind twenty others',
      () => {
        const others = `v1,${Buffer.alloc(32).toString('base64')} `.repeat(20);
        return { ...valid(), 'webhook-signature': `${others}${valid()['webhook-signature']}` };
      },
    ],
    [
      'with a signature of an unknown version',
      () => {
        const headers = valid();
        return { ...headers, 'webhook-signature': (headers['webhook-signature'] ?? '').replace('v1,', 'v1a,') };
      },
    ],
  ])('answers a webhook %s with 401 and stores nothing', async (_case, headers) => {
    const response = await deliver(app.receiverUrl, '/tow-request', body, headers()).expect(401);
    expect(bodyOf(response).code).toBe('not_verified');
    expect(response.text).not.toContain(current.slice(6));
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('receiver: verified signatures', () => {
  it.each([
    ['signed in webhook-* headers', () => signed(body, { secret: current })],
    ['signed in svix-* headers', () => signed(body, { secret: current, family: 'svix' })],
    ['signed with the former secret during a rotation', () => signed(body, { secret: former })],
    ['signed nearly 5 minutes ago', () => signed(body, { secret: current, offSeconds: -270 })],
    ['signed nearly 5 minutes in the future', () => signed(body, { secret: current, offSeconds: 270 })],
    [
      'signed with a timestamp in milliseconds',
      () => signed(body, { secret: current, offSeconds: Date.now() - Math.floor(Date.now() / 1000) }),
    ],
    [
      'with a valid signature among several',
      () => {
        const headers = signed(body, { secret: current });
        const others = `v1,${Buffer.alloc(32).toString('base64')} v1a,abc`;
        return { ...headers, 'webhook-signature': `${others} ${headers['webhook-signature']}` };
      },
    ],
  ])('verifies a webhook %s', async (_case, headers) => {
    expect((await deliver(app.receiverUrl, '/tow-request', body, headers())).body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: true, signatureId: 'msg_1' }]);
  });

  it.each([
    ['unusual white space', ` {\r\n\t"towing_reference_id" :"TW-1" ,"violation_reference_id": "V-1"}\n\n`],
    ['Arabic and Latin letters and an emoji', JSON.stringify(towRequest({ metadata: { id: 'أ ب ح ١٢٣٤ 🚗 é' } }))],
    ['escape sequences', String.raw`{"towing_reference_id":"TW\u002d1","violation_reference_id":"V\/1"}`],
  ])('verifies the signature over the raw bytes of a body with %s', async (_content, text) => {
    const response = await deliver(app.receiverUrl, '/tow-request', text, signed(text, { secret: current }));
    expect(response.body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ rawBody: text, verified: true }]);
  });

  it('verifies a tow invoice with the secrets of its own path only, when that path has secrets', async () => {
    const invoice = JSON.stringify(towInvoice());
    const byOwn = await deliver(app.receiverUrl, '/tow/invoice', invoice, signed(invoice, { secret: invoiceSecret }));
    const byCommon = await deliver(app.receiverUrl, '/tow/invoice', invoice, signed(invoice, { secret: current }));
    expect([byOwn.status, byCommon.status]).toEqual([200, 401]);
  });
});

it('answers a correctly signed body that is not JSON with 400, not with 401', async () => {
  const text = 'towing_reference_id=TW-1';
  const response = await deliver(app.receiverUrl, '/tow-request', text, signed(text, { secret: current })).expect(400);
  expect(bodyOf(response).code).toBe('not_json');
});

it('verifies the signature over bytes that are not UTF-8 and answers them with 400, not with 401', async () => {
  const bytes = Buffer.concat([Buffer.from('{"towing_reference_id":"'), Buffer.from([0xe9]), Buffer.from('"}')]);
  const headers = signed(bytes, { secret: current });
  const response = await deliver(app.receiverUrl, '/tow-request', bytes, headers).expect(400);
  expect(bodyOf(response).code).toBe('not_json');
});

it('recognizes a resent webhook with a new signature as the same delivery', async () => {
  const first = signed(body, { secret: current, offSeconds: -20 });
  const again = signed(body, { secret: former });
  expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body, first)).code).toBe('accepted');
  expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body, again)).code).toBe('already_known');
});

it('does not store a copied svix webhook again when an unsigned webhook-id is added', async () => {
  const headers = signed(body, { secret: current, family: 'svix' });
  expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body, headers)).code).toBe('accepted');
  const copied = { ...headers, 'webhook-id': 'msg_of_a_stranger' };
  expect(bodyOf(await deliver(app.receiverUrl, '/tow-request', body, copied)).code).not.toBe('accepted');
  expect(await deliveriesIn(app.foundation)).toHaveLength(1);
});

it('rejects every webhook when the only configured secret is unusable', () => {
  const headers = signed(body, { secret: newSecret() });
  const call = { rawBody: Buffer.from(body), headers, nowMs: Date.now() };
  expect(verify(call, { secrets: ['whsec_AAA'], sharedSecret: null }).kind).toBe('rejected');
});

describe('receiver: the diagnosis of a wrong signature', () => {
  const written = JSON.stringify(towRequest(), null, 2);
  const answers = async () => {
    const series = readMetricsText((await app.foundation.metrics.text()).text);
    const { samples = [] } = series.find(({ name }) => name === 'towhook_webhook_answers_total') ?? {};
    const countOf = (of: string) =>
      samples.reduce((sum, { labels, value }) => (labels['outcome'] === of ? sum + value : sum), 0);
    return { changed: countOf('body_changed'), wrong: countOf('signature_wrong') };
  };

  it('examines a few calls per second, and refuses the others without', async () => {
    const headers = signed(written, { secret: current });
    const before = await answers();
    // Tests before this one may have used up the present second.
    await eventually(async () => {
      await Promise.all(Array.from({ length: 100 }, () => deliver(app.receiverUrl, '/tow-request', body, headers)));
      const after = await answers();
      expect(after.changed).toBeGreaterThan(before.changed);
      expect(after.wrong).toBeGreaterThan(before.wrong);
    });
  });

  it('does not examine a body of more than 4 kB', () => {
    const settings = { secrets: [current], sharedSecret: null };
    const reasonFor = (id: string) => {
      const content = towRequest({ metadata: { id } });
      const headers = signed(JSON.stringify(content, null, 2), { secret: current });
      const result = verify({ rawBody: Buffer.from(JSON.stringify(content)), headers, nowMs: Date.now() }, settings);
      return result.kind === 'rejected' ? result.reason : result.kind;
    };
    expect(reasonFor('x'.repeat(3000))).toBe('body_changed');
    expect(reasonFor('x'.repeat(4096))).toBe('signature_wrong');
  });
});
