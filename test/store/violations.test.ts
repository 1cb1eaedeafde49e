import { createAnswerStore } from '../../src/store/redis/answers';
import { KEYS } from '../../src/store/keys';
import { type Stores, useStores } from '../support/stores';
import { readViolation, report, reportViolations, violationOf } from '../support/violations';

const stores = useStores();

const namesOf = (items: readonly { violation: { id: string } }[]) => items.map(({ violation }) => violation.id);

async function list(filter: Partial<Parameters<Stores['violations']['list']>[0]> = {}) {
  return stores.violations.list({ state: null, search: null, cursor: null, limit: 50, ...filter });
}

describe('reported violation', () => {
  test('a reported violation is read unchanged by its own id and its metadata id, and is due', async () => {
    const violation = violationOf('U1');
    expect(await report(stores, violation)).toBe('saved');

    const record = await readViolation(stores, 'U1');
    expect(record).toMatchObject({
      violation,
      state: 'pending',
      version: 1,
      revision: 1,
      attempts: 0,
      reference: null,
    });
    expect({ ...(await readViolation(stores, 'own-U1')), readAtMs: record.readAtMs }).toEqual(record);
    expect(await stores.violations.read('U2')).toBeNull();
    expect(await stores.redis.zscore(KEYS.dueViolations, 'U1')).not.toBeNull();
  });

  test('violations are listed newest first, in pages, and by state', async () => {
    await reportViolations(stores, 'U1', 'U2', 'U3');

    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.nextCursor });
    expect([namesOf(first.items), namesOf(second.items), second.nextCursor]).toEqual([['U3', 'U2'], ['U1'], null]);
    expect(namesOf((await list({ state: 'pending' })).items)).toHaveLength(3);
    expect(namesOf((await list({ state: 'accepted' })).items)).toEqual([]);
  });

  test.each([['own-u1'], ['U1'], ['abj 12'], ['أ ب ح']])(
    'a violation is found by the beginning of a search term: %s',
    async (typed) => {
      await reportViolations(stores, 'U1');

      expect(namesOf((await list({ search: typed })).items)).toEqual(['U1']);
      expect(namesOf((await list({ search: typed, state: 'refused' })).items)).toEqual([]);
      expect(namesOf((await list({ search: 'unknown' })).items)).toEqual([]);
    },
  );
});

describe('metadata id of a violation', () => {
  test('one of many violations that are reported with the same metadata id at the same time is stored', async () => {
    const all = Array.from({ length: 20 }, (_, index) => violationOf(`U${index}`, { metadata: { id: 'shared' } }));

    const kinds = await Promise.all(all.map((violation) => report(stores, violation)));

    expect(kinds.filter((kind) => kind === 'saved')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'alias_taken')).toHaveLength(19);
    expect((await list()).items).toHaveLength(1);
    expect(await stores.redis.zcard(KEYS.indexViolations)).toBe(1);
  });

  test('a violation whose metadata id is the own id of another violation is refused', async () => {
    await reportViolations(stores, 'U1');

    expect(await report(stores, violationOf('U2', { metadata: { id: 'U1' } }))).toBe('alias_taken');
    expect((await stores.violations.read('U1'))?.violation.id).toBe('U1');
  });
});

test('a violation reported twice under one idempotency key is stored once and returns the stored answer', async () => {
  const idempotency = { scope: 'POST /api/violations k1', fingerprint: 'f1' };
  const create = (id: string) => report(stores, violationOf(id, { metadata: { id: 'shared' } }), idempotency);
  expect(await create('U1')).toBe('saved');

  expect(await create('U2')).toBe('repeated');

  expect(await stores.violations.read('U2')).toBeNull();
  expect(await stores.redis.llen(KEYS.audit)).toBe(1);
  const stored = await createAnswerStore(stores.redis).find(idempotency.scope);
  expect(JSON.parse(stored?.answer ?? '')).toMatchObject({ id: 'U1', state: 'pending' });
});
