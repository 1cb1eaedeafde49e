import { createMemoryTokenCache } from '../../src/service';
import { noToken, unshared, renewToken, type TokenRenewalTools, type Renewed } from '../../src/service/token-renewal';
import type { StoredToken } from '../../src/workflow/service/service-port';
import { movableClock } from './client-under-test';

const stored = (token: string): StoredToken => ({ token, expiresAtMs: null });
const had = (token: string): Renewed => ({ ok: true, token: stored(token) });

/** A world of several processes on one cache, in which waiting makes time pass instead of taking any. */
function world() {
  const clock = movableClock();
  const tokens = createMemoryTokenCache(clock);
  const waits: number[] = [];
  const failures: unknown[] = [];
  const tools = (
    fetchToken: TokenRenewalTools['fetchToken'],
    parts: Partial<TokenRenewalTools> = {},
  ): TokenRenewalTools => ({
    tokens,
    clock,
    timeoutMs: 1_000,
    fetchToken,
    waitMs: async (ms) => {
      waits.push(ms);
      clock.forwardMs(ms);
    },
    onCacheFailure: (error) => failures.push(error),
    ...parts,
  });
  return { clock, tokens, waits, failures, tools };
}

const never = () => Promise.reject(new Error('unexpected call to the service'));

describe('renewal across processes', () => {
  it('a renewal takes the token that another process wrote before the lock was acquired, without a call', async () => {
    const { tokens, tools } = world();
    const tryLock = async (holder: string, ttlMs: number) => {
      await tokens.write(stored('theirs'));
      return tokens.tryLock(holder, ttlMs);
    };
    expect(await renewToken('old', tools(never, { tokens: { ...tokens, tryLock } }))).toEqual(had('theirs'));
    expect(await tokens.tryLock('next', 1)).toBe(true);
  });

  it('a renewal waits in small steps while another process renews, and takes its token', async () => {
    const { tokens, waits, tools } = world();
    await tokens.tryLock('them', 60_000);
    const waitMs = async (ms: number) => {
      waits.push(ms);
      if (waits.length === 3) await tokens.write(stored('theirs'));
    };
    expect(await renewToken(null, tools(never, { waitMs }))).toEqual(had('theirs'));
    expect(waits).toHaveLength(3);
    for (const ms of waits) expect(ms >= 50 && ms <= 100).toBe(true);
  });

  it('a renewal whose lock was acquired without a reply releases it, so that the next one need not wait', async () => {
    const { tokens, waits, tools } = world();
    const tryLock = async (holder: string, ttlMs: number) => {
      await tokens.tryLock(holder, ttlMs);
      throw new Error('Command timed out');
    };
    await expect(renewToken(null, tools(never, { tokens: { ...tokens, tryLock } }))).rejects.toThrow('timed out');
    expect(
      await renewToken(
        null,
        tools(() => Promise.resolve(had('mine'))),
      ),
    ).toEqual(had('mine'));
    expect(waits).toEqual([]);
  });

  it('a renewal takes over when another process releases its lock without a token', async () => {
    const { tokens, waits, tools } = world();
    await tokens.tryLock('them', 60_000);
    const waitMs = async (ms: number) => {
      waits.push(ms);
      if (waits.length === 2) await tokens.unlock('them');
    };
    expect(
      await renewToken(
        'old',
        tools(async () => had('mine'), { waitMs }),
      ),
    ).toEqual(had('mine'));
  });

  it('a renewal takes over when another process died and its lock has expired', async () => {
    const { tokens, tools } = world();
    await tokens.tryLock('dead', 500);
    expect(
      await renewToken(
        'old',
        tools(async () => had('mine')),
      ),
    ).toEqual(had('mine'));
    expect(await tokens.read()).toEqual(stored('mine'));
  });

  it('a renewal gives up after its time when the lock stays taken', async () => {
    const { clock, tokens, waits, tools } = world();
    await tokens.tryLock('stuck', 60_000);
    expect(await renewToken('old', tools(never))).toEqual(unshared(clock));
    const waitedMs = waits.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeGreaterThan(900);
    expect(waitedMs).toBeLessThan(1_200);
  });

  it('a renewal takes no expired token from the cache, nor the one that it replaces', async () => {
    const { clock, tokens, tools } = world();
    await tokens.write({ token: 'over', expiresAtMs: clock.nowMs() - 1 });
    expect(
      await renewToken(
        'old',
        tools(async () => had('mine')),
      ),
    ).toEqual(had('mine'));
    expect(
      await renewToken(
        'mine',
        tools(async () => had('next')),
      ),
    ).toEqual(had('next'));
  });

  it('a renewal releases its lock when the service returns no token', async () => {
    const { tokens, tools } = world();
    expect(
      await renewToken(
        'old',
        tools(async () => noToken('token_http_500')),
      ),
    ).toEqual(noToken('token_http_500'));
    expect(await tokens.tryLock('next', 1)).toBe(true);
  });

  it('a renewal owns its lock longer than the longest call takes', async () => {
    const { clock, tokens, tools } = world();
    const slow = async () => {
      clock.forwardMs(1_000);
      expect(await tokens.tryLock('other', 1_000)).toBe(false);
      return had('mine');
    };
    expect(await renewToken('old', tools(slow))).toEqual(had('mine'));
  });
});

describe('a process that freezes inside its renewal until its lock has expired', () => {
  it('a renewal whose lock expired keeps the newer token of another process and uses it', async () => {
    const { clock, tokens, tools } = world();
    await tokens.write(stored('old'));
    const frozen = async () => {
      clock.forwardMs(10_000);
      expect(
        await renewToken(
          'old',
          tools(async () => had('newer')),
        ),
      ).toEqual(had('newer'));
      return had('older');
    };
    expect(await renewToken('old', tools(frozen))).toEqual(had('newer'));
    expect(await tokens.read()).toEqual(stored('newer'));
  });

  it('a renewal whose machine slept until its lock expired keeps the newer token of another process', async () => {
    const { clock, tokens, tools } = world();
    await tokens.write(stored('old'));
    const asleep = async () => {
      clock.sleepMs(10_000);
      await tokens.write(stored('newer'));
      return had('older');
    };
    // In Redis the lock is over; the cache of this test goes by the clock that stood still.
    const tryLock = () => Promise.resolve(true);
    expect(await renewToken('old', tools(asleep, { tokens: { ...tokens, tryLock } }))).toEqual(had('newer'));
    expect(await tokens.read()).toEqual(stored('newer'));
  });

  it('a renewal whose lock expired writes nothing while another process renews, but its own call has a token', async () => {
    const { clock, tokens, tools } = world();
    await tokens.write(stored('old'));
    const frozen = async () => {
      clock.forwardMs(10_000);
      await tokens.tryLock('other', 60_000);
      return had('older');
    };
    expect(await renewToken('old', tools(frozen))).toEqual(had('older'));
    expect(await tokens.read()).toEqual(stored('old'));
  });

  it('a renewal whose lock expired writes its token when no other process has renewed', async () => {
    const { clock, tokens, tools } = world();
    await tokens.write(stored('old'));
    const frozen = async () => {
      clock.forwardMs(10_000);
      return had('mine');
    };
    expect(await renewToken('old', tools(frozen))).toEqual(had('mine'));
    expect(await tokens.read()).toEqual(stored('mine'));
    expect(await tokens.tryLock('next', 1)).toBe(true);
  });
});
