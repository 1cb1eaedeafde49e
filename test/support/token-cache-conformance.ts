import type { TokenCache } from '../../src/workflow/service-port';

/** A cache under test: several views of the same store, as several processes would hold them. */
export interface TokenCacheUnderTest {
  /** A fresh view; all views of one run share what is stored. */
  view(): TokenCache;
  /** Lets time pass for the rights to renew. */
  passMs(ms: number): Promise<void>;
  end(): Promise<void>;
}

/**
 * What every TokenCache promises (workflow/service-port.ts). Whether a holder may take its own right a second time is
 * left open; the client never does.
 * @param start makes an empty cache for one test.
 */
export function tokenCacheConformance(name: string, start: () => Promise<TokenCacheUnderTest>): void {
  describe(`token cache: ${name}`, () => {
    let cache: TokenCacheUnderTest;
    beforeEach(async () => {
      cache = await start();
    });
    afterEach(() => cache.end());

    it('holds nothing at first', async () => {
      expect(await cache.view().read()).toBeNull();
    });

    it('shows a written token to every process, exactly as written', async () => {
      const token = { token: 'aaa.bbb.ccc-_~+/=', expiresAtMs: 1_900_000_000_123 };
      await cache.view().write(token);
      expect(await cache.view().read()).toEqual(token);
    });

    it('keeps the difference between a token that tells its end and one that does not', async () => {
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });

    it('keeps a token that is over by the clock, since it still says which token not to use', async () => {
      await cache.view().write({ token: 'a', expiresAtMs: 1_000 });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: 1_000 });
    });

    it('replaces the token as a whole', async () => {
      await cache.view().write({ token: 'a', expiresAtMs: 1_900_000_000_000 });
      await cache.view().write({ token: 'b', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'b', expiresAtMs: null });
    });

    it('gives the right to renew to one of many who ask at once', async () => {
      const asked = Array.from({ length: 20 }, (_, at) => cache.view().tryLock(`holder-${at}`, 60_000));
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(1);
    });

    it('refuses the right while another holds it and gives it once it is handed back', async () => {
      const [first, second] = [cache.view(), cache.view()];
      expect(await first.tryLock('first', 60_000)).toBe(true);
      expect(await second.tryLock('second', 60_000)).toBe(false);
      await first.unlock('first');
      expect(await second.tryLock('second', 60_000)).toBe(true);
    });

    it('ends a right that is not handed back', async () => {
      expect(await cache.view().tryLock('gone', 150)).toBe(true);
      expect(await cache.view().tryLock('next', 150)).toBe(false);
      await cache.passMs(200);
      expect(await cache.view().tryLock('next', 60_000)).toBe(true);
    });

    it('lets nobody hand back a right that another holds', async () => {
      expect(await cache.view().tryLock('late', 150)).toBe(true);
      await cache.passMs(200);
      expect(await cache.view().tryLock('next', 60_000)).toBe(true);
      await cache.view().unlock('late');
      expect(await cache.view().tryLock('third', 60_000)).toBe(false);
    });

    it('takes a write without the right, since a token once had must not be lost', async () => {
      expect(await cache.view().tryLock('holder', 60_000)).toBe(true);
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });

    it('keeps the right and the token apart', async () => {
      await cache.view().write({ token: 'a', expiresAtMs: null });
      expect(await cache.view().tryLock('holder', 60_000)).toBe(true);
      await cache.view().unlock('holder');
      expect(await cache.view().read()).toEqual({ token: 'a', expiresAtMs: null });
    });
  });
}
