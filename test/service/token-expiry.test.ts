import type { ServiceClientOptions } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { TokenCache } from '../../src/workflow/service/service-port';
import { acceptTokens, bearersOf, clientFor, movableClock, REQUESTS, useFakeService } from './client-under-test';
import { enveloped, json, jwt, type FakeService } from './fake-service';

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
