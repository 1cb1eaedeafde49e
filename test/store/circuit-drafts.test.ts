import { systemClock } from '../../src/platform/clock';
import { stopSending } from '../../src/domain/service/circuits';
import { CircuitDrafts, type CircuitsMemory } from '../../src/store/service/circuit-drafts';
import { CIRCUITS_ORDER_KEY } from '../../src/workflow/transaction-port';
import { openStores, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;

/** Redis time of all transactions here: what a process has kept stays in use. */
const NOW_MS = 1_800_000_000_000;
const openCircuits = (of: { readonly open: object }) => Object.keys(of.open);

/** The drafts of a transaction that begins while the process keeps the circuits, which another process opens then. */
async function draftsOfKept(): Promise<CircuitDrafts> {
  const memory: CircuitsMemory = { kept: null, sendsNothing: false };
  await new CircuitDrafts(stores.redis, NOW_MS, memory).draft(false);
  const other = await openStores(redis.url);
  try {
    await other.records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
      stopSending(await transaction.circuits(), transaction.nowMs);
    });
  } finally {
    other.close();
  }
  return new CircuitDrafts(stores.redis, NOW_MS, memory);
}

test('a draft that must be fresh has the circuit that another process opened, even after one that need not be', async () => {
  const drafts = await draftsOfKept();
  expect(openCircuits(await drafts.draft(false))).toEqual([]);

  expect(openCircuits(await drafts.draft(true))).toEqual(['shadow']);
  expect(openCircuits(await drafts.draft(false))).toEqual(['shadow']);
});

test('a draft that was changed before a fresh one is asked for is not lost, and its commit is stale', async () => {
  const drafts = await draftsOfKept();
  const draft = await drafts.draft(false);
  draft.failures += 1;

  expect(await drafts.draft(true)).toBe(draft);

  const change = drafts.changes(() => systemClock.id());
  const records = change?.records ?? [];
  expect(records).toHaveLength(1);
  expect(await stores.records.commit({ records, effects: change?.effects ?? [] })).toBe('stale');
});
