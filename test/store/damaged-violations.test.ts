import { KEYS, violationKey } from '../../src/store/keys';
import { walk } from '../support/conservation';
import { towRequest, useStores, type Stores } from '../support/stores';
import { createAcceptedViolation, link, readViolation } from '../support/violations';

/** A violation that cannot be decoded does not stop the tows that name it, and is left as it is. */

let stores: Stores;
useStores((opened) => {
  stores = opened;
});

/** Accepts and processes a tow request that names a violation; returns what became of it. */
async function request(ref: string, reference: string, metadataId = 'unknown'): Promise<string> {
  const body = { ...towRequest(ref), violation_reference_id: reference, metadata: { id: metadataId } };
  await stores.accept('tow_request', body, `request-${ref}`);
  return stores.process(`request-${ref}`);
}

/** Resolves with the record. */
async function damage(id: string) {
  await stores.redis.hset(violationKey(id), 'z', 'broken');
  return stores.redis.hgetall(violationKey(id));
}

beforeEach(() => createAcceptedViolation(stores, 'U1', 'V-1'));

test.each([
  ['its reference', 'V-1', 'unknown'],
  ['the id in its metadata', 'V-9', 'own-U1'],
])(
  'a tow request that names a damaged violation by %s becomes a tow without it',
  async (_name, reference, metadataId) => {
    const damaged = await damage('U1');

    expect(await request('T1', reference, metadataId)).toBe('created');

    expect((await stores.read('T1')).tow.violationId).toBeNull();
    expect(await stores.redis.hgetall(violationKey('U1'))).toEqual(damaged);
    expect((await walk(stores.redis)).lostNames).toEqual(['violation U1']);
  },
);

test('a tow of a damaged violation can be linked to another one, and the reference stays with the damaged one', async () => {
  await createAcceptedViolation(stores, 'U2', 'V-2');
  await request('T1', 'V-1');
  const damaged = await damage('U1');

  expect(await link(stores, 'U2', 'T1')).toBe('done');

  expect((await stores.read('T1')).tow.violationId).toBe('U2');
  expect(await readViolation(stores, 'U2')).toMatchObject({ references: ['V-2'] });
  expect(await stores.redis.hgetall(violationKey('U1'))).toEqual(damaged);
  expect(await stores.redis.hget(KEYS.violationReferences, 'V-1')).toBe('U1');
});

test('a tow request that names a violation of a later version waits for a process that can use it', async () => {
  await stores.redis.hset(violationKey('U1'), 'oldest_reader', '9');

  expect(await request('T1', 'V-1')).toBe('deferred');

  expect(await stores.tows.read('T1')).toBeNull();
});
