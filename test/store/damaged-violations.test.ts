import { newViolationReference } from '../../src/contracts/common';
import { systemClock } from '../../src/platform/clock';
import { KEYS, violationKey } from '../../src/store/keys';
import { addKnownViolations } from '../../src/workflow/violation/known-violations';
import { matchEarlierTows } from '../../src/workflow/violation/match-violation';
import { walk } from '../support/conservation';
import { TESTER, towRequest, useStores } from '../support/stores';
import {
  createAcceptedViolation,
  decide,
  link,
  readViolation,
  reportViolations,
  violationOf,
} from '../support/violations';

/** A violation that cannot be decoded does not stop the tows that name it, and is left as it is. */

const stores = useStores();

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

/** Encrypted under a data key that the process lacks. */
const UNREADABLE = { later: 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' };

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

test('a tow request that names a violation that the process cannot use waits for one that can', async () => {
  await stores.redis.hset(violationKey('U1'), UNREADABLE);

  expect(await request('T1', 'V-1')).toBe('deferred');

  expect(await stores.tows.read('T1')).toBeNull();
});

test.each([
  ['a damaged violation', { z: 'broken' }],
  ['a violation that the process cannot use', UNREADABLE],
])(
  'an answer that gives the reference of %s to another one is stored, and the reference stays',
  async (_owner, fields) => {
    await stores.redis.hset(violationKey('U1'), fields);
    const before = await stores.redis.hgetall(violationKey('U1'));

    await createAcceptedViolation(stores, 'U2', 'V-1');

    expect(await readViolation(stores, 'U2')).toMatchObject({ state: 'accepted', references: ['V-1'] });
    expect(await stores.redis.hgetall(violationKey('U1'))).toEqual(before);
    expect(await stores.redis.hget(KEYS.violationReferences, 'V-1')).toBe('U1');
  },
);

test('a violation cannot be accepted by hand with the reference of a damaged one', async () => {
  await reportViolations(stores, 'U2');
  await damage('U1');

  const command = { action: 'accept', reason: 'confirmed by phone', reference: 'V-1' } as const;
  expect(await decide(stores, 'U2', command)).toBe('reference_taken');
});

test('a damaged violation is known already when other software names it', async () => {
  await damage('U1');
  const { metadata: _, ...fields } = violationOf('X').form;
  const known = { ...fields, violation_reference_id: newViolationReference.parse('V-1') };
  const tools = { records: stores.records, api: 'reference', clock: systemClock } as const;

  const effect = await addKnownViolations(tools, { violations: [known], actor: TESTER, idempotency: undefined });

  expect(effect).toEqual({ kind: 'done', value: { items: [{ id: 'U1', result: 'already_known' }] } });
});

test('a tow without a violation stays without one when a damaged one has its reference', async () => {
  await damage('U1');
  await request('T1', 'V-1');
  await createAcceptedViolation(stores, 'U2', 'V-2');

  const { violation } = await readViolation(stores, 'U2');
  await matchEarlierTows({ records: stores.records, tows: stores.tows }, { violation, references: ['V-1'] });

  expect((await stores.read('T1')).tow.violationId).toBeNull();
});
