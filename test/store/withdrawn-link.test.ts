import { KEYS, towKey, violationKey } from '../../src/store/keys';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import type { ClaimedViolation, ViolationOutbox } from '../support/outboxes';
import { changeEntry, endLease } from '../support/stored-records';
import { ACCEPTED, START, UNKNOWN, useStores } from '../support/stores';
import {
  claimAs,
  decide,
  idNamed,
  link,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  reportViolations,
  takenAs,
} from '../support/violations';

/** A violation without an answer that a link by hand proved, and whose link turns out to be wrong. */

let outbox: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  outbox = openOutbox(stores, { leaseMs: 20_000, graceMs: 0 });
});

const NO_GRACE = { ...UNKNOWN, delayMs: 0 };
const read = (id: string) => readViolation(stores, id);
const openTasks = () => stores.redis.hkeys(KEYS.tasks);
const violationOfTow = async (ref: string) => (await stores.read(ref)).tow.violationId;

/** A tow request that names no violation of ours, or one by the id in its metadata. */
async function request(ref: string, reference: string, metadataId = 'unknown'): Promise<void> {
  const body = { violation_reference_id: reference, towing_reference_id: ref, metadata: { id: metadataId } };
  await stores.accept('tow_request', body, `request-${ref}`);
  expect(await stores.process(`request-${ref}`)).toBe('created');
}

/** U1 has no answer and is proved by a link to TW-1; U2 was reported. */
async function provedByLink(): Promise<void> {
  await reportViolations(stores, 'U1', 'U2');
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(NO_GRACE));
  await claimAs(outbox, 'U1', 'escalated');
  await request('TW-1', 'V-1');
  expect(await link(stores, 'U1', 'TW-1')).toBe('done');
  expect(await read('U1')).toMatchObject({ state: 'accepted', acceptedHow: 'proved_by_tow_request' });
  expect(await openTasks()).toEqual([]);
}

/** U1 has no answer, and is being sent again; U2 was reported. */
async function sentAgain(): Promise<ClaimedViolation> {
  await reportViolations(stores, 'U1', 'U2');
  await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(NO_GRACE));
  await claimAs(outbox, 'U1', 'escalated');
  expect(await decide(stores, 'U1', { action: 'retry' })).toBe('saved');
  return mustClaimViolation(outbox, 'U1');
}

describe('link by hand during the first call', () => {
  test.each([
    ['refused', outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no zone') }), 'refused'],
    ['not sent', outcome({ next: 'hold', because: 'connection', delayMs: 0 }, { exchange: NOT_SENT }), 'pending'],
    ['unanswered', outcome(NO_GRACE), 'unknown'],
    ['accepted', takenAs('V-own'), 'accepted'],
  ] as const)('proves nothing: the call is %s', async (_what, result, state) => {
    await reportViolations(stores, 'U1');
    const claimed = await mustClaimViolation(outbox, 'U1');
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    expect(await outbox.renew(claimed)).toBe(true);

    await outbox.settle(claimed, result);

    expect(await read('U1')).toMatchObject({ state, tows: ['TW-1'] });
  });
});

describe('link by hand that is corrected', () => {
  test('makes the violation that it proved unknown again, with its task', async () => {
    await provedByLink();

    expect(await link(stores, 'U2', 'TW-1')).toBe('done');

    const unproved = { state: 'unknown', acceptedHow: null, references: [], tows: [] };
    expect(await read('U1')).toMatchObject(unproved);
    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await outbox.claim('U1')).toEqual({ kind: 'needs_action' });
    expect(await decide(stores, 'U1', { action: 'retry' })).toBe('saved');
    expect((await outbox.claim('U1')).kind).toBe('send');
  });

  test('lets a tow request with the metadata id of that violation prove it', async () => {
    await provedByLink();
    await link(stores, 'U2', 'TW-1');
    expect(await openTasks()).toEqual(['violation.U1']);

    await request('TW-2', 'V-2', 'own-U1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', reference: 'V-2' });
    expect(await openTasks()).toEqual([]);
  });

  test.each([
    ['unanswered', outcome(NO_GRACE), 'unknown'],
    ['refused', outcome({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no zone') }), 'refused'],
    ['accepted', takenAs('V-own'), 'accepted'],
  ] as const)('leaves the result to the call in flight, which is %s', async (_what, result, state) => {
    const claimed = await sentAgain();
    await request('TW-1', 'V-1');
    for (const id of ['U1', 'U2']) await link(stores, id, 'TW-1');
    expect((await read('U1')).state).toBe('sending');
    expect((await read('U1')).attemptId).not.toBeNull();

    expect((await outbox.settle(claimed, result)).kind).toBe('done');

    expect((await read('U1')).state).toBe(state);
    if (state === 'unknown') await claimAs(outbox, 'U1', 'escalated');
  });

  test('makes a violation unknown whose worker is lost during the call', async () => {
    await sentAgain();
    await request('TW-1', 'V-1');
    for (const id of ['U1', 'U2']) await link(stores, id, 'TW-1');
    await endLease(stores.redis, violationKey('U1'));

    await claimAs(outbox, 'U1', 'escalated');

    expect((await read('U1')).state).toBe('unknown');
  });

  test('counts a call that ended without an answer while the link proved the violation', async () => {
    const claimed = await sentAgain();
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    await outbox.settle(claimed, outcome(NO_GRACE));

    await link(stores, 'U2', 'TW-1');

    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await decide(stores, 'U1', { action: 'retry' })).toBe('saved');
    const corrected = { action: 'correct', fields: { plateNumber: 'ABJ 1234' } } as const;
    expect(await decide(stores, 'U1', corrected)).toBe('correct_not_allowed');
  });

  test('closes the task about the form before its correction', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await outbox.settle(await mustClaimViolation(outbox, 'U1'), outcome(NO_GRACE));
    await changeEntry(stores.redis, { violationId: 'U1' }, 1, { revision: 2 });
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    expect(await openTasks()).toEqual(['violation_before_correction.U1']);

    await link(stores, 'U2', 'TW-1');

    expect(await openTasks()).toEqual(['violation.U1']);
  });

  test('keeps a violation accepted when the link to another of its tows is corrected', async () => {
    await provedByLink();
    await request('TW-2', 'V-2');
    await link(stores, 'U1', 'TW-2');

    await link(stores, 'U2', 'TW-2');

    expect(await read('U1')).toMatchObject({ state: 'accepted', references: ['V-1'], tows: ['TW-1'] });
    expect(await openTasks()).toEqual([]);
  });

  test('keeps a violation accepted that a tow request with its metadata id confirmed meanwhile', async () => {
    await provedByLink();
    await request('TW-2', 'V-2', 'own-U1');

    await link(stores, 'U2', 'TW-1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', references: ['V-2'], tows: ['TW-2'] });
    expect(await openTasks()).toEqual(['violation_twice.TW-2']);
  });

  test('keeps a violation accepted that a tow request with its metadata id and the reference of the link confirmed', async () => {
    await provedByLink();
    await request('TW-2', 'V-1', 'own-U1');

    await link(stores, 'U2', 'TW-1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', references: ['V-1'], tows: ['TW-2'] });
    expect(await openTasks()).toEqual([]);
  });

  test('keeps a violation accepted whose answer without a reference came meanwhile', async () => {
    const claimed = await sentAgain();
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    await outbox.settle(claimed, outcome(ACCEPTED));

    await link(stores, 'U2', 'TW-1');

    expect(await read('U1')).toMatchObject({ state: 'accepted', references: [], tows: [] });
    expect(await openTasks()).toEqual([]);
  });
});

describe('answer of the service that names another violation than a link by hand', () => {
  test('makes the violation that the link proved unknown again, and moves the tow', async () => {
    await provedByLink();

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-1'));

    expect(await read('U1')).toMatchObject({ state: 'unknown', references: [], tows: [] });
    expect(await openTasks()).toEqual(['violation.U1']);
    expect(await read('U2')).toMatchObject({ state: 'accepted', reference: 'V-1', tows: ['TW-1'] });
    expect(await violationOfTow('TW-1')).toBe('U2');
    expect((await stores.read('TW-1')).timeline.at(-1)).toMatchObject({ type: 'violation.joined', violation_id: 'U2' });
  });

  test('moves every tow with its reference, and no other tow of the violation', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-1', 'V-1');
    await request('TW-2', 'V-2');
    for (const ref of ['TW-1', 'TW-2']) await link(stores, 'U1', ref);
    await request('TW-3', 'V-1');
    await stores.say('TW-3', START);

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-1'));

    expect(await read('U1')).toMatchObject({ state: 'pending', references: ['V-2'], tows: ['TW-2'] });
    expect((await read('U2')).tows).toEqual(['TW-1', 'TW-3']);
    for (const ref of ['TW-1', 'TW-3']) expect(await violationOfTow(ref)).toBe('U2');
    expect(await violationOfTow('TW-2')).toBe('U1');
    // TW-3 was started with the vehicle of U1.
    expect(await openTasks()).toEqual(['violation_mismatch.TW-3']);
  });

  test('asks about a tow whose request names the former violation by its metadata id', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    await request('TW-3', 'V-1', 'own-U1');
    expect(await openTasks()).toEqual([]);

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-1'));

    expect(await violationOfTow('TW-3')).toBe('U2');
    expect(await openTasks()).toEqual(['violation_mismatch.TW-3']);
  });

  test('answers the question about a tow whose request named it by its metadata id', async () => {
    await reportViolations(stores, 'U1', 'U2');
    await request('TW-1', 'V-1');
    await link(stores, 'U1', 'TW-1');
    await request('TW-3', 'V-1', 'own-U2');
    expect(await openTasks()).toEqual(['violation_mismatch.TW-3']);

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-1'));

    expect(await violationOfTow('TW-3')).toBe('U2');
    expect(await openTasks()).toEqual([]);
  });

  test('is stored although the tow is damaged', async () => {
    await provedByLink();
    await stores.redis.hset(towKey('TW-1'), 'head', 'damaged');

    await outbox.settle(await mustClaimViolation(outbox, 'U2'), takenAs('V-1'));

    expect((await read('U2')).state).toBe('accepted');
    expect(await idNamed(stores, 'V-1')).toBe('U2');
    expect(await read('U1')).toMatchObject({ state: 'unknown', tows: ['TW-1'] });
  });
});
