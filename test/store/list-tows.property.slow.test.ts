import * as fc from 'fast-check';
import { isSettled } from '../../src/domain/outbox/outbox';
import { overdueOf, type OverdueAfter } from '../../src/domain/outbox/overdue';
import { TOW_STATES } from '../../src/domain/vocabulary';
import type { TowFilter } from '../../src/workflow/list-port';
import { INVOICE, useStores } from '../support/stores';
import { acceptHead, assign, decideHead, found, inform, refuseHead, requestAgo, retire, startedAgo } from './tow-lists';
import { changeEntry } from '../support/stored-records';
import type { KnownTow } from '../../src/domain/tow/stored-tow';
import type { AsRead } from '../../src/workflow/outbox/read-record';

const stores = useStores();
const redis = stores.server;

const REFS = ['T1', 'T2', 'T3', 'T10', 'T11', 'U1', 'U2'];
const CREWS = ['Crew 4', 'Crew 5'];
const MINUTE_MS = 60_000;

/** What happens to a tow; what its state does not allow does not happen. */
const STEPS: Readonly<Record<string, (ref: string) => Promise<unknown>>> = {
  start: (ref) => stores.say(ref, startedAgo(30)),
  detain: (ref) => stores.say(ref, { event: 'detained' }),
  release: (ref) => stores.say(ref, { event: 'released' }),
  cancel: (ref) => stores.say(ref, { event: 'canceled', cancellationReason: 'gone', reason: 'wrong car' }),
  invoice: (ref) => stores.say(ref, INVOICE),
  /** What is owed has been owed for 20 minutes, which the next write finds. */
  lag: async (ref) => {
    const { reports } = await stores.read(ref);
    const createdAtMs = Date.now() - 20 * MINUTE_MS;
    for (const { seq } of reports) await changeEntry(stores.redis, { ref }, seq, { createdAtMs });
    await inform(stores, ref, 'close');
  },
  accept: (ref) => acceptHead(stores, ref),
  refuse: (ref) => refuseHead(stores, ref),
  waive: (ref) => decideHead(stores, ref, { action: 'waive', reason: 'agreed' }),
  acceptByHand: (ref) => decideHead(stores, ref, { action: 'accept', reason: 'seen there' }),
  correct: (ref) => decideHead(stores, ref, { action: 'correct', fields: { plate_number: 'KLZ 77' } }),
  /** A canceled tow is over once a person has settled all that it owed. */
  retire: async (ref) => {
    await stores.say(ref, { event: 'canceled', cancellationReason: 'gone', reason: 'wrong car' }).catch(() => {});
    const owed = (await stores.read(ref)).reports.filter(({ state }) => !isSettled(state));
    for (let left = owed.length; left > 0; left -= 1) {
      await decideHead(stores, ref, { action: 'accept', reason: 'seen there' });
    }
    await retire(stores, ref);
  },
  assign: (ref) => assign(stores, ref, CREWS[0] ?? ''),
  reassign: (ref) => assign(stores, ref, CREWS[1] ?? ''),
  unassign: (ref) => assign(stores, ref, null),
  ask: (ref) => inform(stores, ref, 'open'),
  answer: (ref) => inform(stores, ref, 'close'),
};

/** Most of it happens to a few tows, and what others depend on happens more often, so that some lives come to their end. */
const whose = fc.constantFrom(...REFS, 'T1', 'T1', 'T1', 'T2', 'T2', 'T2');
const what = fc.constantFrom(...Object.keys(STEPS), 'start', 'start', 'release', 'release');
const lives = fc.array(fc.tuple(whose, what), { minLength: 20, maxLength: 50 });

/** No value lies near the duration of a run, so that nothing becomes overdue during the checks. */
const minutes = fc.constantFrom(0, 15, 45, 240).map((count) => count * MINUTE_MS);
const times: fc.Arbitrary<OverdueAfter> = fc.record({ requestedMs: minutes, startedMs: minutes, reportMs: minutes });

/** Used rarely, because a list with many filters is empty. */
const seldom = fc.nat({ max: 3 }).map((die) => die === 3);

const filters = fc.record({
  states: fc.oneof(fc.constant([]), fc.subarray([...TOW_STATES], { minLength: 2 })),
  search: fc.constantFrom(null, null, null, null, 't1', 'T10', 'v-u', 'klz77', 'unknown'),
  attention: seldom,
  unsent: seldom,
  overdueAfter: fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: times }),
  crew: fc.constantFrom(null, null, null, null, '', ...CREWS),
  order: fc.constantFrom(null, 'newest' as const, 'oldest' as const),
});

type Asked = Omit<TowFilter, 'cursor' | 'limit'>;

/** Whether a record matches the filter, judged by the record alone. */
function passes(record: AsRead<KnownTow>, filter: Asked): boolean {
  const { tow, entries, tasks, readAtMs } = record;
  const ref = tow.towingReferenceId;
  // A corrected plate is also found by its earlier text.
  const plates = tow.plateNumber === null ? [] : ['ABC1234', tow.plateNumber.replaceAll(' ', '')];
  const words = [ref, `V-${ref}`, `own-${ref}`, ...plates];
  const { search } = filter;
  return (
    (filter.states.length === 0 || filter.states.includes(tow.state)) &&
    (search === null || words.some((word) => word.toLowerCase().startsWith(search.toLowerCase()))) &&
    (!filter.attention || Object.keys(tasks).length > 0) &&
    (!filter.unsent || entries.some(({ state }) => !isSettled(state))) &&
    (filter.overdueAfter === null || overdueOf(record, filter.overdueAfter, readAtMs).length > 0) &&
    (filter.crew === null || (tow.dispatch.assignment?.crew ?? '') === filter.crew)
  );
}

test('every filter and order of the tow list finds and counts exactly the matching records after any history', async () => {
  let hits = 0;
  const happened = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      lives,
      fc.array(filters, { minLength: 8, maxLength: 8 }),
      fc.integer({ min: 1, max: 8 }),
      async (life, asked, limit) => {
        await redis.ask('FLUSHALL');
        // The first half is overdue by every setting.
        for (const [at, ref] of REFS.entries()) await requestAgo(stores, ref, at < 4 ? 300 - at : 30 - at);
        for (const [ref, step] of life) {
          await STEPS[step]?.(ref).then(
            () => happened.add(step),
            () => {},
          );
        }
        const records = await stores.tows.listByRefs(REFS);

        for (const filter of asked) {
          const expected = records.filter((record) => passes(record, filter)).map(({ tow }) => tow.towingReferenceId);
          const refs = await found(stores, filter, limit);
          hits += refs.length;
          // A search returns the order of its terms, which other tests check.
          const isByWords = filter.search !== null && filter.order === null;
          const inOrder = filter.order === 'oldest' ? expected : expected.toReversed();
          expect(isByWords ? refs.toSorted() : refs).toEqual(isByWords ? expected.toSorted() : inOrder);
        }
        const after = { requestedMs: 45 * MINUTE_MS, startedMs: 15 * MINUTE_MS, reportMs: 15 * MINUTE_MS };
        const none = { states: [], search: null, attention: false, unsent: false, crew: null, order: null } as const;
        const count = (filter: Partial<Asked>) =>
          records.filter((record) => passes(record, { ...none, overdueAfter: null, ...filter })).length;
        expect(await stores.tows.counts(after)).toMatchObject({
          by_state: Object.fromEntries(TOW_STATES.map((state) => [state, count({ states: [state] })])),
          attention: count({ attention: true }),
          unsent: count({ unsent: true }),
          overdue: count({ overdueAfter: after }),
        });
      },
    ),
    { numRuns: 60 },
  );
  expect(hits).toBeGreaterThan(300);
  expect([...happened].toSorted()).toEqual(Object.keys(STEPS).toSorted());
});
