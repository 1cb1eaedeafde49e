import { blockedKey, KEYS, probesKey } from '../../src/store/keys';
import { FAILING } from '../support/exchanges';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';
import { readCircuits, readEntry, setCircuit } from '../support/stored-records';

const stores = useStores();

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const failing = result(FAILED, { exchange: FAILING, outageDelayMs: 60_000 });

async function starting(refs: readonly string[]): Promise<void> {
  await Promise.all(refs.map((ref) => stores.request(ref)));
  await Promise.all(refs.map((ref) => stores.say(ref, START)));
}

test('a report that a circuit blocks again after it was released is released again', async () => {
  await starting(['A', 'B']);
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 60_000 });
  expect((await stores.outbox.claim('B')).kind).toBe('wait');
  await setCircuit(stores.redis, 'outage', { untilMs: 1 });
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));
  expect(await stores.redis.smembers(blockedKey('outage'))).toEqual([]);
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 60_000 });

  expect((await stores.outbox.claim('B')).kind).toBe('wait');

  expect(await stores.redis.smembers(blockedKey('outage'))).toEqual(['B']);
  expect(await stores.redis.smembers(probesKey('outage'))).toEqual(['B']);
});

test('the failures of a hundred reports that end at the same time are all stored', async () => {
  const refs = Array.from({ length: 100 }, (_, place) => `T${place}`);
  await starting(refs);
  const claims = await Promise.all(refs.map((ref) => mustClaim(stores.outbox, ref)));

  const stored = await Promise.allSettled(claims.map((claim) => stores.outbox.settle(claim, failing)));

  expect(stored.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect((await readCircuits(stores.redis)).open.outage).toBeDefined();
});

describe('while the stored circuits are damaged', () => {
  const DAMAGED = { v: '7.test', circuits: '{"open":' };
  const stored = () => stores.redis.hgetall(KEYS.circuits);

  async function damage(): Promise<void> {
    await stores.redis.hset(KEYS.circuits, DAMAGED);
    stores.records.forgetCircuits();
  }

  test('an accepted answer settles its report, and the circuits stay as they are', async () => {
    await starting(['A']);
    const claimed = await mustClaim(stores.outbox, 'A');
    await damage();

    expect((await stores.outbox.settle(claimed, result(ACCEPTED))).kind).toBe('done');

    expect(await stores.states('A')).toEqual(['started accepted']);
    expect(await stored()).toEqual(DAMAGED);
  });

  test('an accepted answer is stored although no next report can be claimed', async () => {
    await starting(['A']);
    await stores.say('A', { event: 'detained' });
    const claimed = await mustClaim(stores.outbox, 'A');
    await damage();

    await expect(stores.outbox.settle(claimed, result(ACCEPTED), true)).rejects.toThrow(SyntaxError);

    expect(await stores.states('A')).toEqual(['started accepted', 'detained pending']);
    await expect(stores.outbox.claim('A')).rejects.toThrow(SyntaxError);
    await stores.redis.hdel(KEYS.circuits, 'v', 'circuits');
    expect(await mustClaim(stores.outbox, 'A')).toMatchObject({ entry: { kind: 'detained' } });
  });

  test('the failure of a call is counted on its report alone', async () => {
    await starting(['A']);
    const claimed = await mustClaim(stores.outbox, 'A');
    await damage();

    expect((await stores.outbox.settle(claimed, failing)).kind).toBe('done');

    const entry = await readEntry(stores.redis, { ref: 'A' }, 1);
    expect(entry).toMatchObject({ state: 'pending', failures: 1, attemptId: null });
    expect(await stored()).toEqual(DAMAGED);
  });
});
