import { ALL_TOWS } from '../../src/workflow/list-port';
import { deliveryKey } from '../../src/store/keys';
import { INVOICE, RULES, START, useStores } from '../support/stores';
import { acceptHead, assign, found, inform, refuseHead, requestAgo, startedAgo } from './tow-lists';
import { changeEntry } from '../support/stored-records';

const stores = useStores();

const AFTER = RULES.overdueAfter;
const counts = () => stores.tows.counts(AFTER);

test('the unsent filter lists a tow until the service has accepted its reports or a person has waived them', async () => {
  for (const [at, ref] of ['idle', 'owing', 'refused', 'sent'].entries()) await requestAgo(stores, ref, 10 - at);
  for (const ref of ['owing', 'refused', 'sent']) await stores.say(ref, START);
  await refuseHead(stores, 'refused');
  await acceptHead(stores, 'sent');

  expect(await found(stores, { unsent: true })).toEqual(['refused', 'owing']);
  expect((await counts()).unsent).toBe(2);

  await stores.say('sent', INVOICE);
  expect(await found(stores, { unsent: true, order: 'oldest' })).toEqual(['owing', 'refused', 'sent']);
  await acceptHead(stores, 'sent');
  expect(await found(stores, { unsent: true })).toEqual(['refused', 'owing']);
});

describe('overdue filter', () => {
  test('an overdue tow is listed for each of its reasons, counted once, and only while it is overdue', async () => {
    await requestAgo(stores, 'young', 44);
    await requestAgo(stores, 'waiting', 46);
    await requestAgo(stores, 'stalled', 301);
    await stores.say('stalled', startedAgo(250));
    await acceptHead(stores, 'stalled');
    await requestAgo(stores, 'moving', 300);
    await stores.say('moving', startedAgo(200));
    await acceptHead(stores, 'moving');
    await requestAgo(stores, 'owing', 300);
    await stores.say('owing', startedAgo(250));
    await changeEntry(stores.redis, { ref: 'owing' }, 1, { createdAtMs: Date.now() - 16 * 60_000, nextAtMs: 1 });
    await refuseHead(stores, 'owing');

    expect(await found(stores, { overdueAfter: AFTER, order: 'oldest' })).toEqual(['stalled', 'owing', 'waiting']);
    expect((await counts()).overdue).toBe(3);
    expect(await found(stores, { overdueAfter: { ...AFTER, startedMs: 0, requestedMs: 0 } })).toEqual(['owing']);
    expect(await found(stores, { overdueAfter: AFTER, states: ['requested'] })).toEqual(['waiting']);

    await stores.say('stalled', { event: 'detained' });
    await acceptHead(stores, 'stalled');
    await stores.say('waiting', START);
    expect(await found(stores, { overdueAfter: AFTER })).toEqual(['owing']);
    expect((await counts()).overdue).toBe(1);
  });

  test('overdue tows follow a correction of their start time', async () => {
    await requestAgo(stores, 'T1', 300);
    await stores.say('T1', startedAgo(10));
    await refuseHead(stores, 'T1');
    const only = { ...AFTER, reportMs: 0 };
    expect(await found(stores, { overdueAfter: only })).toEqual([]);

    const moment = new Date(Date.now() - 250 * 60_000).toISOString();
    await stores.decide('T1', 'started-1', { action: 'correct', fields: { status_update_time: moment } });

    expect(await found(stores, { overdueAfter: only })).toEqual(['T1']);
  });

  test('no tow is overdue when all limits are 0', async () => {
    await requestAgo(stores, 'T1', 9999);
    const never = { requestedMs: 0, startedMs: 0, reportMs: 0 };
    expect(await found(stores, { overdueAfter: never })).toEqual([]);
    expect((await stores.tows.counts(never)).overdue).toBe(0);
  });
});

describe('crew filter', () => {
  test('the crew filter lists the tows of a crew or the unassigned tows, and follows a change of assignment', async () => {
    for (const [at, ref] of ['T1', 'T2', 'T3'].entries()) await requestAgo(stores, ref, 10 - at);
    await assign(stores, 'T1', 'Crew 4');
    await assign(stores, 'T2', 'Crew 4');
    await assign(stores, 'T2', 'طاقم ١');

    expect(await found(stores, { crew: 'Crew 4' })).toEqual(['T1']);
    expect(await found(stores, { crew: 'طاقم ١' })).toEqual(['T2']);
    expect(await found(stores, { crew: '' })).toEqual(['T3']);
    expect((await counts()).crews).toEqual(['Crew 4', 'طاقم ١']);

    await assign(stores, 'T1', null);
    expect(await found(stores, { crew: '' })).toEqual(['T3', 'T1']);
    expect(await found(stores, { crew: 'Crew 4' })).toEqual([]);
    expect((await counts()).crews).toEqual(['طاقم ١']);
  });

  test('the overdue filter combines with all other filters', async () => {
    for (const [at, ref] of ['T1', 'T2', 'T3'].entries()) {
      await requestAgo(stores, ref, 10 - at);
      await assign(stores, ref, 'Crew 4');
    }
    await stores.say('T2', START);
    await inform(stores, 'T3', 'open');

    expect(await found(stores, { crew: 'Crew 4', states: ['started'] })).toEqual(['T2']);
    expect(await found(stores, { crew: 'Crew 4', unsent: true })).toEqual(['T2']);
    expect(await found(stores, { crew: 'Crew 4', attention: true })).toEqual(['T3']);
    expect(await found(stores, { crew: 'Crew 4', search: 'T1' })).toEqual(['T1']);
    expect(await found(stores, { crew: '', search: 'T1' })).toEqual([]);
  });
});

describe('search filter', () => {
  test('a search lists exact matches first, or follows the order of requests when that order is requested', async () => {
    for (const [at, ref] of ['T1', 'T12', 'T11'].entries()) await requestAgo(stores, ref, 10 - at);

    expect(await found(stores, { search: 'T1' }, 1)).toEqual(['T1', 'T11', 'T12']);
    expect(await found(stores, { search: 'T1', order: 'newest' }, 1)).toEqual(['T11', 'T12', 'T1']);
    expect(await found(stores, { search: 'T1', order: 'oldest' }, 2)).toEqual(['T1', 'T12', 'T11']);
  });

  test('a search for a number lists the tow with this id before tows whose plates begin with it', async () => {
    for (const [at, ref] of ['T1', 'T2', 'T3'].entries()) {
      await requestAgo(stores, ref, 10 - at);
      await stores.say(ref, { ...START, plateNumber: `12${at} ABJ` });
    }
    await requestAgo(stores, '120', 1);
    await requestAgo(stores, '12', 1);

    expect(await found(stores, { search: '12' }, 1)).toEqual(['12', 'T1', 'T2', 'T3', '120']);
    expect(await found(stores, { search: '121abj' })).toEqual(['T2']);
  });

  test('a search with other filters fills whole pages with matching tows', async () => {
    const refs = Array.from({ length: 9 }, (_, at) => `T${at}`);
    for (const [at, ref] of refs.entries()) {
      await requestAgo(stores, ref, 20 - at);
      if (at % 2 === 0) await stores.say(ref, START);
    }
    const page = await stores.tows.list({ ...ALL_TOWS, search: 't', states: ['started'], cursor: null, limit: 3 });

    expect(page.items.map(({ tow }) => tow.towingReferenceId)).toEqual(['T0', 'T2', 'T4']);
    expect(page.nextCursor).not.toBeNull();
  });
});

test('the counts of the tow list give the tows in each state and the tows that each filter would find', async () => {
  const none = { requested: 0, started: 0, detained: 0, released: 0, canceled: 0 };
  expect(await counts()).toEqual({ by_state: none, attention: 0, unsent: 0, overdue: 0, crews: [] });
  for (const ref of ['T1', 'T2', 'T3', 'T4']) await stores.request(ref);
  await stores.say('T2', START);
  await stores.say('T3', { event: 'canceled', cancellationReason: 'gone' });
  await refuseHead(stores, 'T3');
  await inform(stores, 'T4', 'open');

  expect(await counts()).toEqual({
    by_state: { ...none, requested: 2, started: 1, canceled: 1 },
    attention: 2,
    unsent: 2,
    overdue: 0,
    crews: [],
  });
});

test('a task about a tow reference counts no tow as needing action until the tow request arrives', async () => {
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await stores.redis.hset(deliveryKey('invoice-T1'), 'parkedAtMs', 1);
  expect(await stores.process('invoice-T1')).toBe('parked');
  expect((await counts()).attention).toBe(0);

  await stores.request('T1');

  expect((await counts()).attention).toBe(1);
  expect(await found(stores, { attention: true })).toEqual(['T1']);
});
