import type { ServiceClientOptions } from '../../src/service';
import { outageDelayMs } from '../../src/domain/service/service-health';
import { systemClock } from '../../src/platform/clock';
import type { TokenCache } from '../../src/workflow/service/service-port';
import { eventually } from '../support/eventually';
import {
  acceptTokens,
  bearersOf,
  clientFor,
  movableClock,
  readableLog,
  REQUESTS,
  useFakeService,
} from './client-under-test';
import { enveloped, json, startRawServer, type FakeService } from './fake-service';

const UNAUTHORIZED = json({ message: 'Unauthorized' }, 401);

let fake: FakeService;
let tokens: TokenCache;
useFakeService((opened) => {
  ({ fake, tokens } = opened);
});

const client = (options: Partial<ServiceClientOptions> = {}) => clientFor(fake.url, { tokens, ...options });
const acceptOnly = (...valid: string[]) => acceptTokens(fake, valid);

describe('a 401 response', () => {
  it('a 401 makes the client renew the token once and repeat the call', async () => {
    await tokens.write({ token: 'old', expiresAtMs: null });
    acceptOnly('token-1');
    const { exchange } = await client().call('invoice', REQUESTS.invoice);
    // The response is one to a report and breaks the contract of an invoice, but the token was accepted.
    expect(exchange.kind).toBe('contract_broken');
    expect(bearersOf(fake.calls)).toEqual(['Bearer old', 'Bearer token-1']);
  });

  it('a 401 to a token that another process has replaced is repeated with the new token without a token call', async () => {
    await tokens.write({ token: 'old', expiresAtMs: null });
    const one = client();
    await one.call('detained', REQUESTS.detained);
    await tokens.write({ token: 'newer', expiresAtMs: null });
    acceptOnly('newer');
    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    expect(bearersOf(fake.calls)).toEqual(['Bearer old', 'Bearer old', 'Bearer newer']);
    expect(fake.tokenCalls).toHaveLength(0);
  });

  it('a 401 to a fresh token is a broken connection', async () => {
    fake.onCall(() => ({ ...UNAUTHORIZED, headers: { 'retry-after': '30' } }));
    const clock = { ...movableClock(), nowMs: () => 1_000_000 };
    const result = await client({ clock }).call('detained', REQUESTS.detained);
    expect(result.exchange).toEqual({ kind: 'connection', cause: 'token_refused', notBeforeMs: 1_030_000 });
    expect(fake.calls).toHaveLength(2);
    expect(fake.tokenCalls).toHaveLength(2);
  });

  it('a 401 is not followed by a second call when the permission to send ended, but the new token is kept', async () => {
    await tokens.write({ token: 'old', expiresAtMs: null });
    acceptOnly('token-1');
    let asked = 0;
    const maySend = () => {
      asked += 1;
      return asked === 1;
    };
    expect((await client().call('detained', REQUESTS.detained, { maySend })).exchange).toEqual({
      kind: 'dropped',
      cause: 'permission_expired',
      notBeforeMs: null,
    });
    expect(bearersOf(fake.calls)).toEqual(['Bearer old']);
    expect(await tokens.read()).toMatchObject({ token: 'token-1' });
  });
});

describe('a failed token call', () => {
  it('after a 401 whose token could not be replaced, no call is made with the refused token', async () => {
    await tokens.write({ token: 'refused', expiresAtMs: null });
    acceptOnly('token-2');
    fake.onTokenCall((_, nth) => (nth === 1 ? json({ message: 'no' }, 503) : enveloped({ token: 'token-2' })));
    const one = client();
    expect((await one.call('detained', REQUESTS.detained)).exchange).toMatchObject({ cause: 'token_http_503' });
    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    expect(bearersOf(fake.calls)).toEqual(['Bearer refused', 'Bearer token-2']);
  });

  it('a refused token that the service returns again later is used without further token calls', async () => {
    await tokens.write({ token: 'same', expiresAtMs: null });
    fake.onTokenCall((_, nth) => (nth === 1 ? json({ message: 'no' }, 503) : enveloped({ token: 'same' })));
    acceptOnly();
    const one = client();
    await one.call('detained', REQUESTS.detained);
    acceptOnly('same');
    const kinds = [];
    for (let nth = 0; nth < 3; nth += 1) kinds.push((await one.call('detained', REQUESTS.detained)).exchange.kind);
    expect(kinds).toEqual(['accepted', 'accepted', 'accepted']);
    expect(fake.tokenCalls).toHaveLength(2);
  });

  it.each([
    [json({ message: 'bad' }, 400), 'token_http_400'],
    [UNAUTHORIZED, 'token_http_401'],
    [json({ message: 'no' }, 403), 'token_http_403'],
    [{ status: 302, headers: { location: '/login' } }, 'token_http_302'],
    [{ status: 200, body: '<html>' }, 'token_contract_broken'],
    [enveloped({ token: '' }), 'token_contract_broken'],
    [enveloped({ token: 'two\r\nlines' }), 'token_contract_broken'],
  ])('a token call with the response %j is a broken connection', async (reply, cause) => {
    fake.onTokenCall(() => reply);
    const result = await client().call('detained', REQUESTS.detained);
    expect(result).toMatchObject({ exchange: { kind: 'connection', cause, notBeforeMs: null }, data: null });
    expect(fake.calls).toHaveLength(0);
    expect(await tokens.read()).toBeNull();
  });

  it('a token longer than 8 KiB is a broken connection, and one of 8 KiB is sent', async () => {
    const longest = 't'.repeat(8 * 1024);
    fake.onTokenCall((_, nth) => enveloped({ token: nth === 1 ? `${longest}t` : longest }));
    const one = client();
    expect((await one.call('detained', REQUESTS.detained)).exchange).toEqual({
      kind: 'connection',
      cause: 'token_contract_broken',
      notBeforeMs: null,
    });
    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    expect(bearersOf(fake.calls)).toEqual([`Bearer ${longest}`]);
  });

  it('a token call with Retry-After is not repeated before that time', async () => {
    const clock = movableClock();
    fake.onTokenCall((_, nth) =>
      nth === 1
        ? { ...json({ message: 'slow down' }, 429), headers: { 'Retry-After': '60' } }
        : enveloped({ token: 'a' }),
    );
    const one = client({ clock });
    const earliestMs = clock.nowMs();
    const first = (await one.call('detained', REQUESTS.detained)).exchange;
    const notBeforeMs = first.kind === 'dropped' ? (first.notBeforeMs ?? 0) : 0;
    expect(notBeforeMs).toBeGreaterThanOrEqual(earliestMs + 60_000);
    expect(notBeforeMs).toBeLessThanOrEqual(clock.nowMs() + 60_000);
    expect((await one.call('detained', REQUESTS.detained)).exchange).toEqual(first);
    expect(fake.tokenCalls).toHaveLength(1);
    clock.forwardMs(61_000);
    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
  });

  it('a token call with Retry-After is repeated after that time although the clock was set back', async () => {
    const clock = movableClock();
    let setBackMs = 0;
    const settable = { ...clock, nowMs: () => clock.nowMs() - setBackMs };
    fake.onTokenCall((_, nth) =>
      nth === 1
        ? { ...json({ message: 'slow down' }, 429), headers: { 'Retry-After': '60' } }
        : enveloped({ token: 'a' }),
    );
    const one = client({ clock: settable });
    await one.call('detained', REQUESTS.detained);

    setBackMs = 6 * 3_600_000;
    clock.forwardMs(61_000);

    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
  });

  it.each([
    ['30 days', '2592000'],
    ['a number meant as milliseconds', '60000'],
    ['a far date', 'Fri, 31 Dec 2100 23:59:59 GMT'],
  ])('a token call with a Retry-After of %s is repeated within five minutes', async (_, retryAfter) => {
    const clock = movableClock();
    fake.onTokenCall((__, nth) =>
      nth === 1
        ? { ...json({ message: 'maintenance' }, 503), headers: { 'Retry-After': retryAfter } }
        : enveloped({ token: 'a' }),
    );
    const one = client({ clock });
    const first = (await one.call('detained', REQUESTS.detained)).exchange;
    expect(first).toMatchObject({ kind: 'surely_not_sent', cause: 'token_http_503' });
    clock.forwardMs(120_000);
    expect((await one.call('detained', REQUESTS.detained)).exchange).toEqual(first);
    expect(fake.tokenCalls).toHaveLength(1);

    clock.forwardMs(180_000);

    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    expect(fake.tokenCalls).toHaveLength(2);
  });

  it('a token call that probes an outage is repeated within five minutes too', async () => {
    fake.onTokenCall(() => ({ ...json({ message: 'no' }, 503), headers: { 'Retry-After': '2592000' } }));
    const { exchange } = await client().call('token', null);
    const facts = { failedProbes: 0, nowMs: systemClock.nowMs(), jitter: 1 };
    const delayMs = outageDelayMs(exchange, facts, { retryBaseMs: 1000, retryCapMs: 300_000 });
    expect(delayMs).toBeGreaterThan(0);
    expect(delayMs).toBeLessThanOrEqual(300_000);
  });

  it('a token call to a closed port is an outage', async () => {
    await fake.stop();
    const { exchange } = await client().call('detained', REQUESTS.detained);
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'token_connection_refused', notBeforeMs: null });
  });

  it('a token call without a response before its deadline is an outage', async () => {
    // Repeated, because the deadline also runs while the connection opens.
    const { exchange } = await eventually(async () => {
      const silent = await startRawServer(() => {});
      const result = await clientFor(silent.url, { timeoutMs: 150 }).call('detained', REQUESTS.detained);
      await silent.stop();
      expect(silent.received.join('')).not.toBe('');
      return result;
    });
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'token_timeout', notBeforeMs: null });
  });

  it('a failed token call that was requested as an operation returns its outcome unchanged', async () => {
    fake.onTokenCall(() => json({ message: 'Unauthorized' }, 401));
    expect((await client().call('token', null)).exchange).toMatchObject({ kind: 'refused', httpStatus: 401 });
  });
});

describe('a failing token cache', () => {
  const broken = (parts: Partial<TokenCache>): TokenCache => ({ ...tokens, ...parts });
  const fail = () => Promise.reject(new Error('down, holding secret-42'));

  it('a failing token cache lets a client without a token wait, logged without its message', async () => {
    const log = readableLog();
    const { exchange } = await client({ tokens: broken({ read: fail, tryLock: fail }), log }).call(
      'detained',
      REQUESTS.detained,
    );
    expect(exchange).toMatchObject({ kind: 'dropped', cause: 'no_token' });
    expect(log.lines.map(({ event }) => event)).toContain('token_cache.failed');
    expect(JSON.stringify(log.lines)).not.toContain('secret-42');
  });

  it('a failing token cache leaves the token of the client in use', async () => {
    const clock = movableClock();
    let down = false;
    const cache = broken({ read: () => (down ? fail() : tokens.read()) });
    const one = client({ tokens: cache, clock });
    await one.call('detained', REQUESTS.detained);
    down = true;
    clock.forwardMs(60_000);
    expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    expect(fake.tokenCalls).toHaveLength(1);
  });

  it('a new token that cannot be stored in the cache is not lost', async () => {
    const one = client({ tokens: broken({ write: fail, unlock: fail }) });
    for (let nth = 0; nth < 3; nth += 1) {
      expect((await one.call('detained', REQUESTS.detained)).exchange.kind).toBe('accepted');
    }
    expect(fake.tokenCalls).toHaveLength(1);
  });
});
