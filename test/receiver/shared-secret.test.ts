import { useApp } from '../support/app';
import { deliveriesIn, keysIn, newSecret, post, signed, towRequest } from './calls';

const SECRET = 'a secret that both sides share';

describe('with a shared secret', () => {
  const app = useApp({
    role: 'receiver',
    environment: { WEBHOOK_SHARED_SECRET: SECRET, WEBHOOK_SHARED_SECRET_HEADER: 'X-Tow-Secret' },
  });

  it('a call that carries it is verified', async () => {
    const answered = await post(app.receiverUrl, '/tow-request', towRequest(), { 'x-tow-secret': SECRET });
    expect(answered.body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: true, signatureId: null }]);
  });

  it.each([
    ['without it', {}],
    ['with another', { 'x-tow-secret': `${SECRET}x` }],
    ['with the beginning of it', { 'x-tow-secret': SECRET.slice(0, -1) }],
    ['with it in another header', { 'x-secret': SECRET }],
  ])('a call %s is answered 401 and stores nothing', async (_what, headers) => {
    const answered = await post(app.receiverUrl, '/tow-request', towRequest(), headers);
    expect([answered.status, answered.body.code]).toEqual([401, 'not_verified']);
    expect(JSON.stringify(answered.body)).not.toContain(SECRET);
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('with a shared secret and signing secrets', () => {
  const secret = newSecret();
  const app = useApp({
    role: 'receiver',
    environment: {
      WEBHOOK_SHARED_SECRET: SECRET,
      WEBHOOK_SHARED_SECRET_HEADER: 'X-Tow-Secret',
      WEBHOOK_SECRETS: secret,
    },
  });
  const body = JSON.stringify(towRequest());

  it.each([
    ['either the shared secret', () => ({ 'x-tow-secret': SECRET }), 200],
    ['or a signature', () => signed(body, { secret }), 200],
    ['but not neither', () => ({}), 401],
    ['and not a wrong signature', () => signed(body, { secret: newSecret() }), 401],
  ])('a call proves itself by %s', async (_what, headers, status) => {
    expect((await post(app.receiverUrl, '/tow-request', body, headers())).status).toBe(status);
  });
});

describe('without any secret', () => {
  const app = useApp({ role: 'receiver' });

  it('a call is accepted and marked unverified, whatever signature it carries', async () => {
    const headers = signed('another body', { secret: newSecret() });
    expect((await post(app.receiverUrl, '/tow-request', towRequest(), headers)).status).toBe(200);
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: false, signatureId: 'msg_1' }]);
  });
});
