import { accessDigest, type ServiceClientOptions } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import { createTokenSource } from '../../src/service/token';
import type { TokenCache } from '../../src/workflow/service/service-port';
import {
  acceptTokens,
  bearersOf,
  clientFor,
  movableClock,
  readableLog,
  REQUESTS,
  useFakeService,
} from './client-under-test';
import { type FakeService } from './fake-service';

let fake: FakeService;
let tokens: TokenCache;
useFakeService((opened) => {
  ({ fake, tokens } = opened);
});

const client = (options: Partial<ServiceClientOptions> = {}) => clientFor(fake.url, { tokens, ...options });
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
