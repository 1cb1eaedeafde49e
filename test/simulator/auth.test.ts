import { z } from 'zod';
import { systemClock } from '../../src/platform/clock';
import { requestOf } from './requests';
import { endAll, simulate } from './support';

/** docs/service-api.md#authentication. */
afterEach(endAll);

const unauthorized = { code: 401, message: 'Unauthorized' };
const claims = z.object({ operator: z.string(), iat: z.number(), exp: z.number() });

function claimsOf(token: string) {
  return claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()));
}

test('issues tokens as readable JWTs that name the operator and their expiry', async () => {
  const simulator = await simulate({ profile: { token_lifetime_ms: 600_000 } });
  const earliestSeconds = Math.floor(systemClock.nowMs() / 1000);
  const { operator, iat, exp } = claimsOf(await simulator.token('riyadh-towing'));

  expect(operator).toBe('riyadh-towing');
  expect(exp - iat).toBe(600);
  expect(iat).toBeGreaterThanOrEqual(earliestSeconds);
  expect(iat).toBeLessThanOrEqual(systemClock.nowMs() / 1000);
});

test('the simulator refuses a token with 401 after its lifetime', async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const simulator = await simulate({ clock });
  const request = requestOf('detained', await simulator.orderTow());
  const bearer = await simulator.token();

  aheadMs = 3_590_000;
  expect((await simulator.operate('detained', request, { bearer })).status).toBe(200);
  aheadMs = 3_600_001;
  const response = await simulator.operate('detained', request, { bearer });
  expect([response.status, response.body]).toEqual([401, unauthorized]);
});

test('the simulator refuses a forged, invented or foreign token with 401', async () => {
  const simulator = await simulate();
  const request = requestOf('detained', await simulator.orderTow());
  const [header, , signature] = (await simulator.token()).split('.');
  const other = Buffer.from(JSON.stringify({ jti: 'x', exp: systemClock.nowMs() / 1000 + 60 }));
  const forged = `${header}.${other.toString('base64url')}.${signature}`;
  const foreign = await (await simulate()).token();

  for (const bearer of [forged, foreign, 'token', 'a.b.c', '']) {
    const response = await simulator.operate('detained', request, { bearer });
    expect([response.status, response.body]).toEqual([401, unauthorized]);
  }
  expect((await simulator.world()).counts).toMatchObject({ statuses: 0 });
});

test('issues a token only for the configured credentials', async () => {
  const simulator = await simulate({ credentials: { clientId: 'towhook', clientSecret: 'right' } });
  const headers = (id: string, secret: string) => ({ 'x-client-id': id, 'x-client-secret': secret });

  expect((await simulator.operate('token', headers('towhook', 'right'))).status).toBe(200);
  for (const wrong of [headers('towhook', 'wrong'), headers('other', 'right'), { 'x-client-id': 'towhook' }, {}]) {
    const response = await simulator.operate('token', wrong);
    expect([response.status, response.body]).toEqual([401, unauthorized]);
  }
});

test('issues a token for any complete pair of credentials when none are configured', async () => {
  const simulator = await simulate();

  expect((await simulator.operate('token', { 'x-client-id': 'a', 'x-client-secret': 'b' })).status).toBe(200);
  expect((await simulator.operate('token', { 'x-client-id': 'a', 'x-client-secret': '' })).status).toBe(401);
});

test('answers a forbidden operation with 403 until it is allowed again, without affecting other operations', async () => {
  const simulator = await simulate();
  const tow = await simulator.orderTow();
  await simulator.faults({ operation: 'started', fault: '403' });

  const denied = await simulator.operate('started', requestOf('started', tow));
  expect([denied.status, denied.body]).toEqual([403, { code: 403, message: 'Access denied' }]);
  expect((await simulator.operate('detained', requestOf('detained', tow))).status).toBe(200);

  await simulator.control('PUT', '/faults', []).expect(200);
  expect((await simulator.operate('started', requestOf('started', tow))).status).toBe(200);
});
