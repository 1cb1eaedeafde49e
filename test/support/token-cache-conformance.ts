import type { TokenCache } from '../../src/workflow/service/service-port';

/** A cache under test: several views of one store, as several processes have them. */
export interface TokenCacheUnderTest {
  /** A new view; all views of a run share the stored token. */
  view(): TokenCache;
  /** Lets the locks of the renewal expire. */
  passMs(ms: number): Promise<void>;
  end(): Promise<void>;
}

/**
 * What every TokenCache promises (workflow/service/service-port.ts). Whether an owner may acquire its own lock again is
 * undefined; the client never does.
 * @param start makes an empty cache for one test.
 */
export function tokenCacheConformance(name: string, start: () => Promise<TokenCacheUnderTest>): void {
  describe(`token cache ${name}`, () => {
    let cache: TokenCacheUnderTest;
    beforeEach(async () => {
      cache = await start();
    });
    afterEach(() => cache.end());

    it(`the token cache ${name} is empty at first`, async () => {
      expect(await cache.view().read()).toBeNull();
    });

    it(`the token cache ${name} shows a written token to every process, exactly as written`, async () => {
      const token = { token: 'aaa.bbb.ccc-_~+/=', expiresAtMs: 1_900_000_000_123 };
      await cache.view().write(token);
      expect(await cache.view().read()).toEqual(token);
    });

    it(`the token cache ${name} keeps a token without an end`, async () => {
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });

    it(`the token cache ${name} keeps an expired token, which must not be used again`, async () => {
      await cache.view().write({ token: 'a', expiresAtMs: 1_000 });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: 1_000 });
    });

    it(`the token cache ${name} replaces the token as a whole`, async () => {
      await cache.view().write({ token: 'a', expiresAtMs: 1_900_000_000_000 });
      await cache.view().write({ token: 'b', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'b', expiresAtMs: null });
    });

    it(`the token cache ${name} grants the renewal lock to one of many concurrent callers`, async () => {
      const asked = Array.from({ length: 20 }, (_, at) => cache.view().tryLock(`holder-${at}`, 60_000));
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
    });

    it(`the token cache ${name} refuses the renewal lock until its owner releases it`, async () => {
      const [first, second] = [cache.view(), cache.view()];
      expect(await first.tryLock('first', 60_000)).toBe(true);
      expect(await second.tryLock('second', 60_000)).toBe(false);
      await first.unlock('first');
      expect(await second.tryLock('second', 60_000)).toBe(true);
    });

    it(`the token cache ${name} expires a renewal lock that is not released`, async () => {
      expect(await cache.view().tryLock('gone', 150)).toBe(true);
      expect(await cache.view().tryLock('next', 150)).toBe(false);
      await cache.passMs(200);
      expect(await cache.view().tryLock('next', 60_000)).toBe(true);
    });

    it(`the token cache ${name} releases a renewal lock for its owner only`, async () => {
      expect(await cache.view().tryLock('late', 150)).toBe(true);
      await cache.passMs(200);
      expect(await cache.view().tryLock('next', 60_000)).toBe(true);
      await cache.view().unlock('late');
      expect(await cache.view().tryLock('third', 60_000)).toBe(false);
    });

    it(`the token cache ${name} stores a token without the renewal lock, because it must not be lost`, async () => {
      expect(await cache.view().tryLock('holder', 60_000)).toBe(true);
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });

    it(`the token cache ${name} keeps its token when the renewal lock is released`, async () => {
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().tryLock('holder', 60_000)).toBe(true);
      await cache.view().unlock('holder');
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });
  });
}
