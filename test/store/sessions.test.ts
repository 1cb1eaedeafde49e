import { systemClock } from '../../src/platform/clock';
import { createSessionStore } from '../../src/store/sessions';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useOwnRedis();
let stores: Stores;
let sessions: ReturnType<typeof createSessionStore>;
beforeEach(async () => {
  stores = await openStores(redis.url);
  sessions = createSessionStore(stores.redis);
});
afterEach(() => stores.close());

const SESSION = { keyHash: 'hash of a key', createdAt: new Date(systemClock.nowMs()).toISOString() };
const KEY = '{p0}:session:hash';
const lifetimeLeftMs = async () => Number(await redis.ask('PTTL', KEY));
const isKept = async () => Number(await redis.ask('EXISTS', KEY)) === 1;

describe('a session', () => {
  it('is found by the hash of its id until it ends', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    expect(await sessions.read('hash')).toEqual(SESSION);
    expect(await sessions.read('another')).toBeNull();
    await sessions.end('hash');
    expect(await sessions.read('hash')).toBeNull();
    expect(await isKept()).toBe(false);
  });

  it('lives on for as long as it is prolonged, and not by being read', async () => {
    await sessions.begin('hash', SESSION, 5000);
    expect(await lifetimeLeftMs()).toBeLessThanOrEqual(5000);
    expect(await sessions.read('hash')).toEqual(SESSION);
    expect(await lifetimeLeftMs()).toBeLessThanOrEqual(5000);
    expect(await sessions.prolong('hash', 90_000)).toEqual(SESSION);
    expect(await lifetimeLeftMs()).toBeGreaterThan(80_000);
    expect(await sessions.read('hash')).toEqual(SESSION);
    expect(await lifetimeLeftMs()).toBeGreaterThan(80_000);
    await sessions.prolong('hash', 5000);
    expect(await lifetimeLeftMs()).toBeLessThanOrEqual(5000);
  });

  it('ends by itself when nobody prolongs it for its lifetime, and nothing brings it back', async () => {
    await sessions.begin('hash', SESSION, 30);
    await eventually(async () => expect(await isKept()).toBe(false));
    expect(await sessions.prolong('hash', 60_000)).toBeNull();
    expect(await isKept()).toBe(false);
  });

  it('that ends while others prolong it does not come back to life', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    const looks = Array.from({ length: 50 }, () => sessions.prolong('hash', 60_000));
    await Promise.all([...looks, sessions.end('hash'), ...looks]);
    expect(await isKept()).toBe(false);
  });

  it('that is ended twice, or never was, has ended', async () => {
    await sessions.end('hash');
    expect(await sessions.read('hash')).toBeNull();
  });

  it.each(['', 'null', '{"keyHash":7}', 'no JSON'])('that cannot be read is none: %j', async (text) => {
    await redis.ask('SET', KEY, text);
    expect(await sessions.read('hash')).toBeNull();
  });

  it('cannot be told while Redis does not answer', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    await redis.kill();
    await expect(sessions.read('hash')).rejects.toBeInstanceOf(Error);
    await redis.start();
    await eventually(async () => expect(await sessions.read('hash')).toEqual(SESSION));
  });
});
