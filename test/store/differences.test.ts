import { DIFFERENCES_MAX, othersId } from '../../src/domain/difference';
import { systemClock } from '../../src/platform/clock';
import { releaseBlocked } from '../../src/store/release-blocked';
import { createDifferenceStore } from '../../src/store/differences';
import { differenceKey, differingKey, KEYS } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox';
import { differenceViewOf } from '../../src/workflow/expect-difference';
import { differenceOf } from '../../src/workflow/see-difference';
import { eventually } from '../support/eventually';
import { NO_LIMITS, type TowOutbox } from '../support/outboxes';
import { useRedis } from '../support/redis';
import {
  ACCEPTED,
  GRACE_MS,
  INVOICE,
  LEASE_MS,
  mustClaim,
  oddAnswer,
  openStores,
  result,
  START,
  type Stores,
} from '../support/stores';

/** Differences between the answers of the service and its document: one task per kind. */

const redis = useRedis();
let stores: Stores;
let outbox: TowOutbox;
beforeEach(async () => {
  stores = await openStores(redis.url);
  outbox = createTowOutbox(stores.redis, systemClock, {
    leaseMs: LEASE_MS * 100,
    graceMs: GRACE_MS,
    ...NO_LIMITS,
  });
});
afterEach(() => stores.close());

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
const shown = (id: string) => kinds().read(id);
const differs = async (ref: string) => (await stores.read(ref)).reports[0]?.openDifferenceId ?? null;

test('100 answers of one odd shape, 10 at a time, make one task with the count 100 and list the 100 reports', async () => {
  for (let tens = 0; tens < 10; tens += 1) await Promise.all(named(10, `T${tens}-`).map((ref) => answered(ref)));

  expect(await stores.generalTasks()).toMatchObject([
    { id: `differs.${NO_DATA.id}`, type: 'answer_differs', operation: 'started', actions: ['expect', 'resolve'] },
  ]);
  expect(await shown(NO_DATA.id)).toMatchObject({ count: 100, decision: 'open', shape: NO_DATA.shape });
  expect(await kinds().waiting(NO_DATA.id)).toBe(100);
  const first = await kinds().reports(NO_DATA.id, { cursor: null, limit: 60 });
  const second = await kinds().reports(NO_DATA.id, { cursor: first.nextCursor, limit: 60 });
  const listed = [...first.items, ...second.items].map(({ towing_reference_id: ref }) => ref);
  expect(new Set(listed).size).toBe(100);
  expect(second.nextCursor).toBeNull();
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
  expect(await shown(tolerated.id)).toMatchObject({ count: 1, decision: 'expected', decided: null });
  expect([await differs('A'), await differs('B'), await differs('C')]).toEqual([NO_DATA.id, NO_REFERENCE.id, null]);
});

test('the first answer of a kind is marked also when the same commit claims the next report', async () => {
  await stores.request('A');
  await stores.say('A', START);
  await stores.say('A', { event: 'detained' });
  const odd = result({ next: 'accepted' }, { difference: NO_DATA });

  const { next } = await outbox.settle(await mustClaim(outbox, 'A'), odd, true);

  expect(next).toMatchObject({ kind: 'send', entry: { kind: 'detained' } });
  expect(await differs('A')).toBe(NO_DATA.id);
});

test('a kind that is declared expected closes its task, and later answers of it open none', async () => {
  await answered('A');
  await answered('B', NO_REFERENCE);
  await stores.expect(NO_DATA.id);

  expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });
  await answered('C');

  expect((await stores.generalTasks()).map(({ difference_id: id }) => id)).toEqual([NO_REFERENCE.id]);
  expect([await differs('A'), await differs('B'), await differs('C')]).toEqual([null, NO_REFERENCE.id, null]);
  expect(await kinds().waiting(NO_DATA.id)).toBe(0);
  expect(await shown(NO_DATA.id)).toMatchObject({ count: 2, decision: 'expected', decided: { by: 'tester' } });
});

test('a kind that a person looked at is closed with its reports, and the next answer of it opens it again', async () => {
  await answered('A');
  expect(await stores.resolve(`differs.${NO_DATA.id}`)).toBe('done');
  await releaseBlocked(stores.redis);

  expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });
  expect([await differs('A'), await kinds().waiting(NO_DATA.id), await stores.generalTasks()]).toEqual([null, 0, []]);
  const closed = await shown(NO_DATA.id);
  expect(closed && differenceViewOf(closed)).toMatchObject({ decision: 'closed', decided_by: 'tester', task_id: null });
  expect(await stores.resolve(`differs.${NO_DATA.id}`)).toBe('task_not_found');

  await eventually(async () => expect(await stores.records.nowMs()).toBeGreaterThan((closed?.reviewedAtMs ?? 0) + 10));
  await answered('B');
  await releaseBlocked(stores.redis);
  expect(await outbox.claim('B')).toMatchObject({ kind: 'idle' });
  expect([await differs('B'), await kinds().waiting(NO_DATA.id)]).toEqual([NO_DATA.id, 1]);
  expect(await stores.generalTasks()).toMatchObject([{ id: `differs.${NO_DATA.id}` }]);
  expect(await shown(NO_DATA.id)).toMatchObject({ count: 2, decision: 'open', decided: null });
});

test('reports accepted between two decisions on their kind are released, although the first is being released', async () => {
  await answered('A');
  await stores.resolve(`differs.${NO_DATA.id}`);
  const decided = await shown(NO_DATA.id);
  await eventually(async () => expect(await stores.records.nowMs()).toBeGreaterThan((decided?.reviewedAtMs ?? 0) + 10));
  await answered('B');
  const readMembers = jest.spyOn(stores.redis, 'zrange');
  readMembers.mockImplementationOnce(async (...args) => {
    const members = await stores.redis.zrange(...args);
    expect(await stores.resolve(`differs.${NO_DATA.id}`)).toBe('done');
    return members;
  });

  await releaseBlocked(stores.redis);
  await releaseBlocked(stores.redis);

  expect(await kinds().waiting(NO_DATA.id)).toBe(0);
  expect(await outbox.claim('B')).toMatchObject({ kind: 'idle' });
  expect(await differs('B')).toBeNull();
  readMembers.mockRestore();
});

test('the next run releases the reports of a decided kind that the run before has left', async () => {
  await answered('A');
  const members = named(1200).flatMap((ref, at) => [Math.floor(at / 3), `${ref}\nstarted-1`]);
  await stores.redis.zadd(differingKey(NO_DATA.id), ...members);
  await stores.resolve(`differs.${NO_DATA.id}`);

  const left: number[] = [];
  while (await stores.redis.exists(KEYS.releasing)) {
    await releaseBlocked(stores.redis);
    left.push(await kinds().waiting(NO_DATA.id));
  }

  // Reports that were accepted in the same ms are released together.
  expect(left).toEqual([700, 199, 0]);
  expect(await stores.redis.zcard(KEYS.dueTows)).toBe(1201);
});

test('a report that is accepted again while its kind is being released is released by the next decision', async () => {
  await answered('A');
  await stores.resolve(`differs.${NO_DATA.id}`);
  const decided = await shown(NO_DATA.id);
  await eventually(async () => expect(await stores.records.nowMs()).toBeGreaterThan((decided?.reviewedAtMs ?? 0) + 10));
  const makeDue = stores.redis.pipeline.bind(stores.redis);
  const releasing = jest.spyOn(stores.redis, 'pipeline').mockImplementationOnce(() => {
    const pipeline = makeDue();
    const exec = pipeline.exec.bind(pipeline);
    jest.spyOn(pipeline, 'exec').mockImplementation(async () => {
      const made = await exec();
      await stores.decide('A', 'started-1', { action: 'retry' });
      await outbox.settle(await mustClaim(outbox, 'A'), result(ACCEPTED, { difference: NO_DATA }));
      expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });
      return made;
    });
    return pipeline;
  });

  await releaseBlocked(stores.redis);

  releasing.mockRestore();
  expect([await differs('A'), await kinds().waiting(NO_DATA.id)]).toEqual([NO_DATA.id, 1]);
  await stores.expect(NO_DATA.id);
  await eventually(async () => expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['A']));
  expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });
  expect([await differs('A'), await kinds().waiting(NO_DATA.id)]).toEqual([null, 0]);
});

test('a report that is accepted while a person closes its kind is closed too', async () => {
  await answered('A');
  const read = stores.redis.hgetall.bind(stores.redis);
  const reading = jest.spyOn(stores.redis, 'hgetall').mockImplementationOnce(async (key) => {
    const [fields, beganMs] = [await read(key), await stores.records.nowMs()];
    expect(key).toBe(differenceKey(NO_DATA.id));
    await eventually(async () => expect(await stores.records.nowMs()).toBeGreaterThan(beganMs + 10));
    await answered('B');
    return fields;
  });

  expect(await stores.resolve(`differs.${NO_DATA.id}`)).toBe('done');

  reading.mockRestore();
  await releaseBlocked(stores.redis);
  for (const ref of ['A', 'B']) expect(await outbox.claim(ref)).toMatchObject({ kind: 'idle' });
  expect([await differs('A'), await differs('B'), await stores.generalTasks()]).toEqual([null, null, []]);
});

test('a mark is taken away although the last call of its tow was in flight when its kind was decided', async () => {
  await answered('A');
  await stores.say('A', { event: 'detained' });
  const claimed = await mustClaim(outbox, 'A');
  await stores.expect(NO_DATA.id);
  await releaseBlocked(stores.redis);

  await outbox.settle(claimed, result(ACCEPTED));

  await eventually(async () => expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['A']));
  expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });
  expect(await differs('A')).toBeNull();
  expect(await stores.dueAt('A')).toBeNull();
});

test('a mark is taken away although its kind was decided during a claim that found nothing to send', async () => {
  await answered('A');
  const read = stores.redis.hget.bind(stores.redis);
  const reading = jest.spyOn(stores.redis, 'hget').mockImplementationOnce(async (key, field) => {
    const document = await read(key, field);
    expect(key).toBe(differenceKey(NO_DATA.id));
    await stores.expect(NO_DATA.id);
    await releaseBlocked(stores.redis);
    return document;
  });

  expect(await outbox.claim('A')).toMatchObject({ kind: 'idle' });

  reading.mockRestore();
  expect(await differs('A')).toBeNull();
});

test('a chosen report is sent again while its kind is open, and leaves the list of its reports', async () => {
  await answered('A');
  await answered('B');
  await stores.decide('A', 'started-1', { action: 'retry' });

  expect((await kinds().reports(NO_DATA.id, { cursor: null, limit: 10 })).items).toMatchObject([
    { towing_reference_id: 'B', report_id: 'started-1', kind: 'started' },
  ]);
  expect(await mustClaim(outbox, 'A')).toMatchObject({ entry: { id: 'started-1', attempts: 2 } });
  await expect(stores.decide('A', 'started-1', { action: 'retry' })).rejects.toThrow('report_in_flight');
});

test('the timeline keeps the first acceptance of a report that is sent again', async () => {
  await answered('A');
  await stores.decide('A', 'started-1', { action: 'retry' });

  const accepted = { type: 'report.accepted', report_id: 'started-1', how: 'answered' };
  expect((await stores.read('A')).timeline).toContainEqual(expect.objectContaining(accepted));
});

test('an invoice that is sent again by hand counts its answered request, so that no third one leaves by itself', async () => {
  const quick = createTowOutbox(stores.redis, systemClock, { leaseMs: LEASE_MS * 100, graceMs: 0, ...NO_LIMITS });
  await stores.request('A');
  await stores.say('A', START);
  await stores.say('A', INVOICE);
  await quick.settle(await mustClaim(quick, 'A'), result(ACCEPTED));
  await quick.settle(await mustClaim(quick, 'A'), result(ACCEPTED, { difference: oddAnswer('invoice') }));
  await stores.decide('A', 'invoice-2', { action: 'retry' });

  await quick.settle(await mustClaim(quick, 'A'), result({ next: 'unknown', delayMs: 0 }));

  expect(await quick.claim('A')).toMatchObject({ kind: 'escalated', why: 'unknown' });
});

test('an invoice whose webhook came is not sent again: the webhook would settle it before any call', async () => {
  await stores.request('A');
  await stores.say('A', START);
  await stores.say('A', INVOICE);
  await outbox.settle(await mustClaim(outbox, 'A'), result(ACCEPTED));
  await outbox.settle(await mustClaim(outbox, 'A'), result(ACCEPTED, { difference: oddAnswer('invoice') }));
  await stores.acceptInvoice('A');
  await stores.process('invoice-A');

  await expect(stores.decide('A', 'invoice-2', { action: 'retry' })).rejects.toThrow('report_settled');
  expect(await stores.states('A')).toEqual(['started accepted', 'invoice accepted']);
});

test('kinds above the limit count under one kind of their operation, with one task', async () => {
  const note = (rule: string) =>
    stores.records.transact(rule, (transaction) =>
      transaction.recordDifference(oddAnswer('started', [`data: ${rule}`])),
    );
  for (let at = 0; at < DIFFERENCES_MAX + 3; at += 1) await note(`breaks rule ${at}`);

  expect(await kinds().all()).toHaveLength(DIFFERENCES_MAX + 1);
  expect(await shown(othersId('answer', 'started'))).toMatchObject({ count: 3, shape: [], decision: 'open' });
});

test('a kind whose decision this version cannot read stops no sending, and is left to others to release', async () => {
  await answered('A');
  await stores.redis.hset(differenceKey(NO_DATA.id), 'document', '{"decision":"of a later version"}');
  await stores.redis.sadd(KEYS.releasing, `difference ${NO_DATA.id}`);

  await releaseBlocked(stores.redis);
  await answered('B');

  expect(await stores.redis.smembers(KEYS.releasing)).toEqual([`difference ${NO_DATA.id}`]);
  expect([await differs('A'), await differs('B')]).toEqual([NO_DATA.id, NO_DATA.id]);
  expect(await stores.redis.hget(differenceKey(NO_DATA.id), 'count')).toBe('2');
});
