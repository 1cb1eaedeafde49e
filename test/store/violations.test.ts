import { KEYS } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';
import { report, reportViolations, violationOf } from '../support/violations';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const namesOf = (items: readonly { violation: { id: string } }[]) => items.map(({ violation }) => violation.id);

async function list(filter: Partial<Parameters<Stores['violations']['list']>[0]> = {}) {
  return stores.violations.list({ state: null, search: null, cursor: null, limit: 50, ...filter });
}

describe('a violation that was taken in', () => {
  test('is read as it was given, by our id and by the id in its metadata, and is due', async () => {
    const violation = violationOf('U1');
    expect(await report(stores, violation)).toBe('saved');

    const record = await stores.violations.read('U1');
    expect(record).toMatchObject({
      violation,
      state: 'pending',
      version: 1,
      revision: 1,
      attempts: 0,
      reference: null,
    });
    expect(await stores.violations.read('own-U1')).toEqual(record);
    expect(await stores.violations.read('U2')).toBeNull();
    expect(await stores.redis.zscore(KEYS.dueViolations, 'U1')).not.toBeNull();
  });

  test('is listed newest first, page by page, and by its state', async () => {
    await reportViolations(stores, 'U1', 'U2', 'U3');

    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.nextCursor });
    expect([namesOf(first.items), namesOf(second.items), second.nextCursor]).toEqual([['U3', 'U2'], ['U1'], null]);
    expect(namesOf((await list({ state: 'pending' })).items)).toHaveLength(3);
    expect(namesOf((await list({ state: 'accepted' })).items)).toEqual([]);
  });

  test.each([['own-u1'], ['U1'], ['abj 12'], ['أ ب ح']])(
    'is found by the beginning of what it is called: %s',
    async (typed) => {
      await reportViolations(stores, 'U1');

      expect(namesOf((await list({ search: typed })).items)).toEqual(['U1']);
      expect(namesOf((await list({ search: typed, state: 'refused' })).items)).toEqual([]);
      expect(namesOf((await list({ search: 'nobody' })).items)).toEqual([]);
    },
  );
});

describe('the id in the metadata', () => {
  test('is taken once, however many ask for it at the same time', async () => {
    const all = Array.from({ length: 20 }, (_, index) => violationOf(`U${index}`, { metadata: { id: 'shared' } }));

    const kinds = await Promise.all(all.map((violation) => report(stores, violation)));

    expect(kinds.filter((kind) => kind === 'saved')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'alias_taken')).toHaveLength(19);
    expect((await list()).items).toHaveLength(1);
    expect(await stores.redis.zcard(KEYS.indexViolations)).toBe(1);
  });

  test('may not be the name that another violation has from us', async () => {
    await reportViolations(stores, 'U1');

    expect(await report(stores, violationOf('U2', { metadata: { id: 'U1' } }))).toBe('alias_taken');
    expect((await stores.violations.read('U1'))?.violation.id).toBe('U1');
  });
});

test('a request made twice under one key reports one violation, and its answer is remembered with it', async () => {
  const remember = { scope: 'POST /api/violations k1', fingerprint: 'f1' };
  const create = (id: string) => report(stores, violationOf(id, { metadata: { id: 'shared' } }), remember);
  expect(await create('U1')).toBe('saved');

  expect(await create('U2')).toBe('remembered');

  expect(await stores.violations.read('U2')).toBeNull();
  expect(await stores.redis.llen(KEYS.audit)).toBe(1);
  const answer = await stores.redis.hget('{p0}:idempotency:POST /api/violations k1', 'answer');
  expect(JSON.parse(answer ?? '')).toMatchObject({ id: 'U1', state: 'pending' });
});
