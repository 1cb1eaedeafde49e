import { systemClock } from '../../src/platform/clock';
import { createSessionStore } from '../../src/store/person/sessions';
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
const KEY = '{towhook-main}:session:hash';
const lifetimeLeftMs = async () => Number(await redis.ask('PTTL', KEY));
const isKept = async () => Number(await redis.ask('EXISTS', KEY)) === 1;

describe('sessions', () => {
  it('finds a session by the hash of its id until the session ends', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    expect(await sessions.read('hash')).toEqual(SESSION);
    expect(await sessions.read('another')).toBeNull();
    await sessions.end('hash');
    expect(await sessions.read('hash')).toBeNull();
    expect(await isKept()).toBe(false);
  });

  it('extends the life of a session when it is prolonged, not when it is read', async () => {
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

  it('ends all sessions of a holder, and keeps nothing of them', async () => {
    const nowMs = systemClock.nowMs();
    const listed = { atMs: nowMs, lifetimeMs: 60_000 };
    for (const id of ['one', 'two', 'other']) await sessions.begin(id, SESSION, 60_000);
    await sessions.list('holder', 'one', listed);
    await sessions.list('holder', 'two', listed);
    await sessions.list('another holder', 'other', listed);
    await sessions.endAll('holder');
    expect([await sessions.read('one'), await sessions.read('two')]).toEqual([null, null]);
    expect(await sessions.read('other')).toEqual(SESSION);
    expect(await redis.ask('KEYS', '*:sign-ins:holder')).toEqual([]);
    await sessions.endAll('holder');
  });

  it('lists the sessions of a holder no longer than they can last', async () => {
    const nowMs = systemClock.nowMs();
    for (let index = 0; index < 50; index += 1) {
      await sessions.list('holder', `old-${index}`, { atMs: nowMs - 70_000, lifetimeMs: 60_000 });
    }
    await sessions.list('holder', 'new', { atMs: nowMs, lifetimeMs: 60_000 });
    expect(await redis.ask('ZRANGE', '{towhook-main}:sign-ins:holder', '0', '-1')).toEqual(['new']);
    expect(Number(await redis.ask('PTTL', '{towhook-main}:sign-ins:holder'))).toBeLessThanOrEqual(60_000);
  });

  it('ends a session permanently when it is not extended within its lifetime', async () => {
    await sessions.begin('hash', SESSION, 30);
    await eventually(async () => expect(await isKept()).toBe(false));
    expect(await sessions.prolong('hash', 60_000)).toBeNull();
    expect(await isKept()).toBe(false);
  });

  it('does not revive a session that is extended while it ends', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    const looks = Array.from({ length: 50 }, () => sessions.prolong('hash', 60_000));
    await Promise.all([...looks, sessions.end('hash'), ...looks]);
    expect(await isKept()).toBe(false);
  });

  it('reports no error when an ended or missing session is ended', async () => {
    await sessions.end('hash');
    expect(await sessions.read('hash')).toBeNull();
  });

  it.each(['', 'null', '{"keyHash":7}', 'no JSON'])(
    'treats a stored session that cannot be parsed as absent: %j',
    async (text) => {
      await redis.ask('SET', KEY, text);
      expect(await sessions.read('hash')).toBeNull();
    },
  );

  it('rejects the lookup of a session while Redis is down', async () => {
    await sessions.begin('hash', SESSION, 60_000);
    await redis.kill();
    await expect(sessions.read('hash')).rejects.toBeInstanceOf(Error);
    await redis.start();
    await eventually(async () => expect(await sessions.read('hash')).toEqual(SESSION));
  });
});
