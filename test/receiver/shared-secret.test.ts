import { useApp } from '../support/app';
import { bodyOf, deliver, deliveriesIn, keysIn, newSecret, signed, towRequest } from './calls';

const SECRET = 'a secret that both sides share';
const NEXT = 'the secret that comes after it';

describe('receiver: shared secret', () => {
  const app = useApp({
    role: 'receiver',
    environment: { WEBHOOK_SHARED_SECRET: `${SECRET},${NEXT}`, WEBHOOK_SHARED_SECRET_HEADER: 'X-Tow-Secret' },
  });

  it('stores a webhook that carries the shared secret as verified', async () => {
    const response = await deliver(app.receiverUrl, '/tow-request', towRequest(), { 'x-tow-secret': SECRET });
    expect(response.body).toEqual({ code: 'accepted' });
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: true, signatureId: null }]);
  });

  it('stores a webhook that carries the next shared secret during a rotation', async () => {
    await deliver(app.receiverUrl, '/tow-request', towRequest(), { 'x-tow-secret': NEXT }).expect(200);
  });

  it.each([
    ['without the shared secret', {}],
    ['with a wrong shared secret', { 'x-tow-secret': `${SECRET}x` }],
    ['with both shared secrets at once', { 'x-tow-secret': `${SECRET},${NEXT}` }],
    ['with a prefix of the shared secret', { 'x-tow-secret': SECRET.slice(0, -1) }],
    ['with the shared secret in another header', { 'x-secret': SECRET }],
  ])('answers a webhook %s with 401 and stores nothing', async (_case, headers) => {
    const response = await deliver(app.receiverUrl, '/tow-request', towRequest(), headers).expect(401);
    expect(bodyOf(response).code).toBe('not_verified');
    expect(response.text).not.toContain(SECRET);
    expect(await keysIn(app.redis)).toEqual([]);
  });
});

describe('receiver: shared secret with letters beyond ASCII', () => {
  const text = 'ein Schlüssel für Wagen';
  const app = useApp({
    role: 'receiver',
    environment: { WEBHOOK_SHARED_SECRET: text, WEBHOOK_SHARED_SECRET_HEADER: 'X-Tow-Secret' },
  });

  it.each(['latin1', 'utf8'] as const)(
    'verifies the shared secret of a sender that writes it as %s',
    async (encoding) => {
      // `fetch` writes each character of a header as one byte.
      const secret = Buffer.from(text, encoding).toString('latin1');
      const headers = { 'content-type': 'application/json', 'x-tow-secret': secret };
      const call = { method: 'POST', headers, body: JSON.stringify(towRequest()) };
      expect((await fetch(`${app.receiverUrl}/tow-request`, call)).status).toBe(200);
    },
  );
});

describe('receiver: shared secret and signing secrets', () => {
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
    ['accepts a webhook with the shared secret alone', () => ({ 'x-tow-secret': SECRET }), 200],
    ['accepts a webhook with a valid signature alone', () => signed(body, { secret }), 200],
    ['answers a webhook without shared secret and signature with 401', () => ({}), 401],
    ['answers a webhook with only a wrong signature with 401', () => signed(body, { secret: newSecret() }), 401],
  ])('%s when both kinds of secret are configured', async (_behaviour, headers, status) => {
    await deliver(app.receiverUrl, '/tow-request', body, headers()).expect(status);
  });
});

describe('receiver: no secret', () => {
  const app = useApp({ role: 'receiver' });

  it('accepts a webhook as unverified when no secret is configured, even when it carries a signature', async () => {
    const headers = signed('another body', { secret: newSecret() });
    await deliver(app.receiverUrl, '/tow-request', towRequest(), headers).expect(200);
    expect(await deliveriesIn(app.foundation)).toMatchObject([{ verified: false, signatureId: 'msg_1' }]);
  });
});
