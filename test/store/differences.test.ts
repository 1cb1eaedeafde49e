import { DIFFERENCES_MAX, withoutRules } from '../../src/domain/service/difference';
import { systemClock } from '../../src/platform/clock';
import { createDifferenceStore } from '../../src/store/service/differences';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { differenceViewOf } from '../../src/workflow/service/differences';
import { differenceOf } from '../../src/workflow/service/differences';
import { NO_LIMITS, type TowOutbox } from '../support/outboxes';
import { ACCEPTED, GRACE_MS, LEASE_MS, mustClaim, oddAnswer, result, START, useStores } from '../support/stores';

/** Differences between the answers of the service and its document: one task per kind. */

const stores = useStores();
let outbox: TowOutbox;
beforeEach(() => {
  outbox = createTowOutbox(stores.redis, systemClock, {
    leaseMs: LEASE_MS * 100,
    graceMs: GRACE_MS,
    ...NO_LIMITS,
  });
});

const NO_DATA = oddAnswer('started');
const NO_REFERENCE = oddAnswer('started', ['data.towing_reference_id: is required (string)']);

/** Makes a tow whose started report is accepted with this difference. */
async function answered(ref: string, difference = NO_DATA): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  const claimed = await mustClaim(outbox, ref);
  await outbox.settle(claimed, result({ next: 'accepted' }, { difference, rawBody: '{"done":true}' }));
}

const named = (count: number, prefix = 'T') => Array.from({ length: count }, (_, at) => `${prefix}${at}`);
const kinds = () => createDifferenceStore(stores.redis);
const shown = async (id: string) => (await kinds().all()).find((kind) => kind.id === id);

test('100 answers of one odd shape, 10 at a time, make one task with the count 100', async () => {
  for (let tens = 0; tens < 10; tens += 1) await Promise.all(named(10, `T${tens}-`).map((ref) => answered(ref)));

  expect(await stores.generalTasks()).toMatchObject([
    { id: `differs.${NO_DATA.id}`, type: 'answer_differs', operation: 'started', actions: ['expect'] },
  ]);
  expect(await shown(NO_DATA.id)).toMatchObject({ count: 100, expected: null, shape: NO_DATA.shape });
});

test('two shapes of odd answers make two tasks, and a tolerated difference is only counted', async () => {
  const tolerated = differenceOf({ source: 'answer', name: 'started' }, ['code: must be a whole number'], {
    body: '{"code":"200"}',
    isTolerated: true,
  });
  await answered('A');
  await answered('B', NO_REFERENCE);
  await answered('C', tolerated);

  const asked = (await stores.generalTasks()).map(({ difference_id: id }) => id);
  expect(new Set(asked)).toEqual(new Set([NO_DATA.id, NO_REFERENCE.id]));
  expect(asked).toHaveLength(2);
  expect(await shown(tolerated.id)).toMatchObject({ count: 1, isTolerated: true });
});

test('a kind that is declared expected closes its task, and later answers of it open none', async () => {
  await answered('A');
  await answered('B', NO_REFERENCE);
  await stores.expect(NO_DATA.id);
  await answered('C');

  expect((await stores.generalTasks()).map(({ difference_id: id }) => id)).toEqual([NO_REFERENCE.id]);
  const difference = await shown(NO_DATA.id);
  expect(difference).toMatchObject({ count: 2, expected: { by: 'tester', reason: 'a test' } });
  expect(difference && differenceViewOf(difference)).toMatchObject({ expected_by: 'tester', task_id: null });
});

test('a kind that is declared expected twice keeps its first decision', async () => {
  await answered('A');
  await stores.expect(NO_DATA.id);
  const first = await shown(NO_DATA.id);
  await stores.expect(NO_DATA.id);

  expect(await shown(NO_DATA.id)).toEqual(first);
});

test('the task about a kind is not resolved, only by declaring the kind expected', async () => {
  await answered('A');
  expect(await stores.resolve(`differs.${NO_DATA.id}`)).toBe('decision_needed');
});

test('an answer that is stored again because the reply to its commit was lost counts once', async () => {
  await stores.request('A');
  await stores.say('A', START);
  const claimed = await mustClaim(outbox, 'A');
  const odd = result(ACCEPTED, { difference: NO_DATA });

  await outbox.settle(claimed, odd);
  await outbox.settle(claimed, odd);

  expect(await shown(NO_DATA.id)).toMatchObject({ count: 1 });
});

test('kinds above the limit count under one kind of their operation, with one task', async () => {
  const note = (rule: string) =>
    stores.records.transact(rule, (transaction) =>
      transaction.recordDifference(oddAnswer('started', [`data: ${rule}`])),
    );
  for (let at = 0; at < DIFFERENCES_MAX + 3; at += 1) await note(`breaks rule ${at}`);

  expect(await kinds().all()).toHaveLength(DIFFERENCES_MAX + 1);
  expect(await shown(withoutRules(NO_DATA).id)).toMatchObject({ count: 3, shape: [] });
});
