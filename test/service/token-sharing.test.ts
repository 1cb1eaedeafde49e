import { accessDigest, type ServiceClientOptions } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { TokenCache } from '../../src/workflow/service/service-port';
import {
  acceptTokens,
  bearersOf,
  clientFor,
  movableClock,
  REQUESTS,
  useFakeService,
  readableLog,
} from './client-under-test';
import { enveloped, json, jwt, type FakeService } from './fake-service';
import { createTokenSource } from '../../src/service/token';

let fake: FakeService;
let tokens: TokenCache;
useFakeService((opened) => {
  ({ fake, tokens } = opened);
});

const client = (options: Partial<ServiceClientOptions> = {}) => clientFor(fake.url, { tokens, ...options });
describe('tokens with an expiry', () => {
  it('a token is renewed a minute before its expiry', async () => {
    const clock = movableClock();
    const endMs = clock.nowMs() + 3_600_000;
    fake.onTokenCall((_, nth) => enveloped({ token: jwt(endMs * nth, String(nth)) }));
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    clock.forwardMs(3_600_000 - 65_000);
    await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(1);
    clock.forwardMs(10_000);
    await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(2);
    expect(bearersOf(fake.calls).at(-1)).toBe(`Bearer ${jwt(endMs * 2, '2')}`);
  });

  it('a token with an expiry more than a year away is treated as one without an expiry', async () => {
    const clock = movableClock();
    for (const aheadMs of [366 * 86_400_000, 9e15]) {
      const token = jwt(clock.nowMs() + aheadMs);
      fake.onTokenCall(() => enveloped({ token }));
      await client({ clock, tokens }).call('token', null);
      expect(await tokens.read()).toEqual({ token, expiresAtMs: null });
    }
  });

  it('a token of a few seconds is used for half of them instead of being renewed with every call', async () => {
    const clock = movableClock();
    fake.onTokenCall((_, nth) => enveloped({ token: jwt(clock.nowMs() + 20_000, String(nth)) }));
    const one = client({ clock });
    for (let nth = 0; nth < 5; nth += 1) await one.call('detained', REQUESTS.detained);
    clock.forwardMs(8_000);
    await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(1);
    clock.forwardMs(3_000);
    for (let nth = 0; nth < 5; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(2);
  });

  it('a token that arrives expired is used until a 401, as the clocks disagree', async () => {
    fake.onTokenCall((_, nth) => enveloped({ token: jwt(systemClock.nowMs() - 3_600_000, String(nth)) }));
    const one = client();
    for (let nth = 0; nth < 5; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(1);
  });

  it('a token stays in use while its early renewal fails, which is not repeated with every call', async () => {
    const clock = movableClock();
    const first = jwt(clock.nowMs() + 3_600_000);
    fake.onTokenCall((_, nth) => (nth === 1 ? enveloped({ token: first }) : json({ message: 'later' }, 503)));
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    clock.forwardMs(3_600_000 - 40_000);
    for (let nth = 0; nth < 5; nth += 1) {
      expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    }
    expect(fake.tokenCalls).toHaveLength(2);
    clock.forwardMs(41_000);
    expect((await one.call('detained', REQUESTS.detained)).exchange).toMatchObject({ cause: 'token_http_503' });
  });

  it('a token is not requested again with every call when the service keeps returning the same one', async () => {
    const clock = movableClock();
    const same = jwt(clock.nowMs() + 3_600_000);
    fake.onTokenCall(() => enveloped({ token: same }));
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    clock.forwardMs(3_600_000 - 40_000);
    for (let nth = 0; nth < 5; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(2);
  });

  it('a token that the service returns again with a new lifetime is used until shortly before its new end', async () => {
    const clock = movableClock();
    fake.onTokenCall(() => enveloped({ token: 'same', expires_in: 600 }));
    const one = client({ clock });
    const callsAfterMs = async (ms: number) => {
      clock.forwardMs(ms);
      for (let nth = 0; nth < 3; nth += 1) await one.call('detained', REQUESTS.detained);
      return fake.tokenCalls.length;
    };
    expect(await callsAfterMs(0)).toBe(1);
    // A minute before the end, and after it.
    expect(await callsAfterMs(545_000)).toBe(2);
    expect(await callsAfterMs(530_000)).toBe(2);
    expect(await callsAfterMs(610_000)).toBe(3);
  });

  it('a token that another process received again with a new lifetime is used without a token call', async () => {
    const clock = movableClock();
    await tokens.write({ token: 'same', expiresAtMs: clock.nowMs() + 600_000 });
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    await tokens.write({ token: 'same', expiresAtMs: clock.nowMs() + 1_200_000 });
    clock.forwardMs(610_000);
    for (let nth = 0; nth < 3; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(0);
  });

  it('a token that the service returns again after its end is used until a 401, as the clocks disagree', async () => {
    const clock = movableClock();
    const same = jwt(clock.nowMs() + 600_000);
    fake.onTokenCall((_, nth) => enveloped({ token: nth <= 2 ? same : 'next' }));
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    clock.forwardMs(610_000);
    for (let nth = 0; nth < 5; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(2);
    acceptTokens(fake, ['next']);
    for (let nth = 0; nth < 2; nth += 1) {
      expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    }
    expect(fake.tokenCalls).toHaveLength(3);
  });
});
const acceptOnly = (...valid: string[]) => acceptTokens(fake, valid);

test('a kept token belongs to the secret that got it, of which its digest shows too little to confirm a guess', () => {
  const access = { baseUrl: 'https://service.example', paths: {}, clientId: 'client', clientSecret: 'secret-1' };
  const digest = accessDigest(access);

  expect(accessDigest({ ...access })).toBe(digest);
  const others = Array.from({ length: 3 }, (_, nth) => accessDigest({ ...access, clientSecret: `wrong-${nth}` }));
  expect(others).not.toContain(digest);
  // All but 16 bits depend on nothing secret.
  expect(new Set([digest, ...others].map((one) => one.slice(0, -4))).size).toBe(1);
});

describe('one token for all calls', () => {
  it('a token is requested once and used for every call', async () => {
    const one = client();
    for (let nth = 0; nth < 3; nth += 1) await one.call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(1);
    expect(bearersOf(fake.calls)).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-1']);
  });

  it('20 calls at once without a token make one token call', async () => {
    const one = client();
    const results = await Promise.all(Array.from({ length: 20 }, () => one.call('detained', REQUESTS.detained)));
    expect(results.map(({ exchange }) => exchange.kind)).toEqual(Array.from({ length: 20 }, () => 'accepted'));
    expect(fake.tokenCalls).toHaveLength(1);
  });

  it('20 calls at once with an expired token make one token call and none with the old token', async () => {
    await tokens.write({ token: 'old', expiresAtMs: systemClock.nowMs() - 1 });
    acceptOnly('token-1');
    const one = client();
    const results = await Promise.all(Array.from({ length: 20 }, () => one.call('detained', REQUESTS.detained)));
    expect(results.filter(({ exchange }) => exchange.kind === 'accepted')).toHaveLength(20);
    expect(fake.tokenCalls).toHaveLength(1);
    expect(new Set(bearersOf(fake.calls))).toEqual(new Set(['Bearer token-1']));
  });

  it('20 calls at once with a token the service no longer accepts make one token call', async () => {
    await tokens.write({ token: 'old', expiresAtMs: null });
    acceptOnly('token-1');
    const one = client();
    const results = await Promise.all(Array.from({ length: 20 }, () => one.call('detained', REQUESTS.detained)));
    expect(results.filter(({ exchange }) => exchange.kind === 'accepted')).toHaveLength(20);
    expect(fake.tokenCalls).toHaveLength(1);
    expect(await tokens.read()).toMatchObject({ token: 'token-1' });
  });

  it('two clients with one cache make one token call', async () => {
    const both = [client(), client()];
    const calls = both.flatMap((one) => Array.from({ length: 10 }, () => one.call('detained', REQUESTS.detained)));
    const results = await Promise.all(calls);
    expect(results.filter(({ exchange }) => exchange.kind === 'accepted')).toHaveLength(20);
    expect(fake.tokenCalls).toHaveLength(1);
  });

  it('two clients with the same refused token make one token call', async () => {
    await tokens.write({ token: 'old', expiresAtMs: null });
    acceptOnly('token-1');
    const both = [client(), client()];
    const calls = both.flatMap((one) => Array.from({ length: 10 }, () => one.call('detained', REQUESTS.detained)));
    const results = await Promise.all(calls);
    expect(results.filter(({ exchange }) => exchange.kind === 'accepted')).toHaveLength(20);
    expect(fake.tokenCalls).toHaveLength(1);
  });

  it('a token renewed by another process is used within a second, before the old one is refused', async () => {
    const clock = movableClock();
    await tokens.write({ token: 'old', expiresAtMs: null });
    const one = client({ clock });
    await one.call('detained', REQUESTS.detained);
    await tokens.write({ token: 'newer', expiresAtMs: null });
    clock.forwardMs(1_000);
    await one.call('detained', REQUESTS.detained);
    expect(bearersOf(fake.calls)).toEqual(['Bearer old', 'Bearer newer']);
  });

  it('a cache read that is overtaken by a renewal does not restore the old token', async () => {
    const clock = movableClock();
    await tokens.write({ token: 'old', expiresAtMs: null });
    acceptOnly('old');
    let hold: Promise<void> | null = null;
    let release = () => {};
    const read = async () => {
      const found = await tokens.read();
      const held = hold;
      hold = null;
      await held;
      return found;
    };
    const one = client({ clock, tokens: { ...tokens, read } });
    await one.call('detained', REQUESTS.detained);
    acceptOnly('token-1');
    clock.forwardMs(1_000);
    hold = new Promise((resolve) => (release = resolve));
    const overtaken = one.call('released', REQUESTS.released);
    await one.call('detained', REQUESTS.detained);
    release();
    expect((await overtaken).exchange.kind).toBe('accepted');
    expect(bearersOf(fake.calls)).toEqual(['Bearer old', 'Bearer old', 'Bearer token-1', 'Bearer token-1']);
  });

  it('a token requested as an operation is returned and used from then on', async () => {
    const one = client();
    expect((await one.call('token', null)).data).toEqual({ token: 'token-1' });
    await one.call('detained', REQUESTS.detained);
    await client().call('detained', REQUESTS.detained);
    expect(fake.tokenCalls).toHaveLength(1);
    expect(bearersOf(fake.calls)).toEqual(['Bearer token-1', 'Bearer token-1']);
  });
});

it('calls of one process that need a token together try to acquire the renewal lock once', async () => {
  let asked = 0;
  const tryLock: TokenCache['tryLock'] = (holder, ttlMs) => {
    asked += 1;
    return tokens.tryLock(holder, ttlMs);
  };
  const one = client({ tokens: { ...tokens, tryLock } });
  await Promise.all(Array.from({ length: 20 }, () => one.call('detained', REQUESTS.detained)));
  expect(fake.calls).toHaveLength(20);
  expect(asked).toBe(1);
});

it('calls whose token is refused during the renewal of an older one share one further renewal', async () => {
  await tokens.write({ token: 'token-1', expiresAtMs: null });
  let fetched = 0;
  const source = createTokenSource({
    tokens,
    clock: systemClock,
    log: readableLog(),
    timeoutMs: 1000,
    fetchToken: async () => ({ ok: true, token: { token: `token-${(fetched += 1) + 1}`, expiresAtMs: null } }),
  });

  const replaced = await Promise.all(['token-0', 'token-1', 'token-1'].map((refused) => source.replace(refused)));

  const newest = { ok: true, token: { token: 'token-2', expiresAtMs: null } };
  expect(replaced).toEqual([{ ok: true, token: { token: 'token-1', expiresAtMs: null } }, newest, newest]);
  expect(fetched).toBe(1);
});
