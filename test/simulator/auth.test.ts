import { z } from 'zod';
import { systemClock } from '../../src/platform/clock';
import { requestOf } from './requests';
import { endAll, simulate } from './support';

/** service-api 5. */
afterEach(endAll);

const unauthorized = { code: 401, message: 'Unauthorized' };
const claims = z.object({ operator: z.string(), iat: z.number(), exp: z.number() });

function claimsOf(token: string) {
  return claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
}

test('a token is a readable JWT that names the operator and tells when it ends', async () => {
  const simulator = await simulate({ tokenLifetimeMs: 600_000 });
  const { operator, iat, exp } = claimsOf(await simulator.token('riyadh-towing'));

  expect(operator).toBe('riyadh-towing');
  expect(exp - iat).toBe(600);
  expect(Math.abs(iat - systemClock.nowMs() / 1000)).toBeLessThan(10);
});

test('a token ends when its life is over', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const simulator = await simulate({ clock });
  const request = requestOf('detained', await simulator.orderTow());
  const bearer = await simulator.token();

  aheadMs = 3_590_000;
  expect((await simulator.operate('detained', request, { bearer })).status).toBe(200);
  aheadMs = 3_600_001;
  const answer = await simulator.operate('detained', request, { bearer });
  expect([answer.status, answer.json]).toEqual([401, unauthorized]);
});

test('a token that was changed, invented, or issued by another run is unknown', async () => {
  const simulator = await simulate();
  const request = requestOf('detained', await simulator.orderTow());
  const [header, , signature] = (await simulator.token()).split('.');
  const other = Buffer.from(JSON.stringify({ jti: 'x', expires_at_ms: systemClock.nowMs() + 60_000 }));
  const forged = `${header}.${other.toString('base64url')}.${signature}`;
  const foreign = await (await simulate()).token();

  for (const bearer of [forged, foreign, 'token', 'a.b.c', '']) {
    const answer = await simulator.operate('detained', request, { bearer });
    expect([answer.status, answer.json]).toEqual([401, unauthorized]);
  }
  expect((await simulator.world()).counts).toMatchObject({ statuses: 0 });
});

test('with credentials set up, only these get a token', async () => {
  const simulator = await simulate({ credentials: { clientId: 'towhook', clientSecret: 'right' } });
  const headers = (id: string, secret: string) => ({ 'x-client-id': id, 'x-client-secret': secret });

  expect((await simulator.operate('token', headers('towhook', 'right'))).status).toBe(200);
  for (const wrong of [headers('towhook', 'wrong'), headers('other', 'right'), { 'x-client-id': 'towhook' }, {}]) {
    const answer = await simulator.operate('token', wrong);
    expect([answer.status, answer.json]).toEqual([401, unauthorized]);
  }
});

test('without credentials set up, any pair gets a token and half a pair does not', async () => {
  const simulator = await simulate();

  expect((await simulator.operate('token', { 'x-client-id': 'a', 'x-client-secret': 'b' })).status).toBe(200);
  expect((await simulator.operate('token', { 'x-client-id': 'a', 'x-client-secret': '' })).status).toBe(401);
});

test('a denied operation answers 403 until it is allowed again, the others go on', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  await simulator.control('PUT', '/access', { denied: ['started'] });

  const denied = await simulator.operate('started', requestOf('started', tow));
  expect([denied.status, denied.json]).toEqual([403, { code: 403, message: 'Access denied' }]);
  expect((await simulator.operate('detained', requestOf('detained', tow))).status).toBe(200);
  // Without a token nobody learns what is allowed.
  expect((await simulator.operate('started', requestOf('started', tow), { bearer: null })).status).toBe(401);

  expect((await simulator.control('PUT', '/access', { denied: [] })).json).toEqual({ denied: [] });
  expect((await simulator.operate('started', requestOf('started', tow))).status).toBe(200);
});
