import { towKey, violationKey } from '../../src/store/keys';
import { NOT_SENT } from '../support/exchanges';
import type { ViolationOutbox } from '../support/outboxes';
import { changeEntry, endLease, copyRecord } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, useStores, result, START, UNKNOWN } from '../support/stores';
import {
  claimAs,
  decide,
  idNamed,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  report,
  reportViolations,
  takenAs,
  violationOf,
} from '../support/violations';

/** A claim is lost when Redis fails over to a replica that lags, or loses power, after the call has left. */

let violations: ViolationOutbox;
const stores = useStores();
beforeEach(() => {
  violations = openOutbox(stores, { leaseMs: 20_000, graceMs: 0 });
});

const ANSWER = { towing_reference_id: 'T1', towing_invoice: { total_amount: 345, paid_amount: 0, tax: 45 } };
const accepted = () => result(ACCEPTED, { answer: ANSWER });

const invoice = async () => (await stores.read('T1')).reports[1];

/** Claims the invoice of a tow, and loses the claim. */
async function claimThatIsLost() {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  const loseClaim = await copyRecord(stores.redis, towKey('T1'));
  const claim = await mustClaim(stores.outbox, 'T1');
  await loseClaim();
  expect(await invoice()).toMatchObject({ state: 'pending', attempts: 0, attemptId: null });
  return claim;
}

/** Claims a violation, and loses the claim. */
async function violationClaimThatIsLost() {
  await reportViolations(stores, 'U1');
  const loseClaim = await copyRecord(stores.redis, violationKey('U1'));
  const claim = await mustClaimViolation(violations, 'U1');
  await loseClaim();
  return claim;
}

describe('accepted answer after a lost claim', () => {
  test('an accepted answer whose claim was lost settles the pending invoice, so that no second one is posted', async () => {
    const claim = await claimThatIsLost();

    expect((await stores.outbox.settle(claim, accepted())).kind).toBe('late_accepted');

    expect(await invoice()).toMatchObject({ state: 'accepted', answer: ANSWER });
    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
  });

  test('an accepted answer whose claim was lost settles the pending violation, so that no second one is posted', async () => {
    const claim = await violationClaimThatIsLost();

    expect((await violations.settle(claim, takenAs('V-1'))).kind).toBe('late_accepted');

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
    expect((await violations.claim('U1')).kind).toBe('cleanup');
  });

  test('an accepted answer without a claim settles the invoice once the attempt in flight ends unanswered', async () => {
    const claim = await claimThatIsLost();
    const second = await mustClaim(stores.outbox, 'T1');
    expect((await stores.outbox.settle(claim, accepted())).kind).toBe('late');
    expect(await invoice()).toMatchObject({ state: 'sending', attemptId: second.attemptId });

    await stores.outbox.settle(second, result(UNKNOWN));

    expect(await invoice()).toMatchObject({ state: 'accepted', answer: ANSWER });
    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
  });

  test('an accepted answer without a claim settles the invoice once the worker of the attempt in flight is lost', async () => {
    const claim = await claimThatIsLost();
    await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(claim, accepted());
    await endLease(stores.redis, towKey('T1'));

    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });

    expect(await invoice()).toMatchObject({ state: 'accepted', answer: ANSWER });
  });

  test('the accepted answer of the attempt in flight replaces an accepted answer without a claim', async () => {
    const claim = await claimThatIsLost();
    const second = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(claim, accepted());
    const answer = { ...ANSWER, towing_invoice: { ...ANSWER.towing_invoice, total_amount: 400 } };

    expect((await stores.outbox.settle(second, result(ACCEPTED, { answer }))).kind).toBe('done');

    expect(await invoice()).toMatchObject({ state: 'accepted', answer });
  });

  test('an accepted answer without a claim keeps its reference and settles the violation after the attempt in flight', async () => {
    const claim = await violationClaimThatIsLost();
    const second = await mustClaimViolation(violations, 'U1');
    expect((await violations.settle(claim, takenAs('V-1'))).kind).toBe('late');
    expect((await readViolation(stores, 'U1')).state).toBe('sending');

    await violations.settle(second, outcome(UNKNOWN));

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
    expect(await idNamed(stores, 'V-1')).toBe('U1');
  });

  test('an accepted answer with a reference alone keeps the status of an accepted answer without a claim', async () => {
    const claim = await violationClaimThatIsLost();
    const second = await mustClaimViolation(violations, 'U1');
    const whole = { reference: 'V-1', serviceStatus: 'PENDING', canTow: true };
    await violations.settle(claim, takenAs('V-1', { acceptedViolation: whole }));

    const broken = { reference: 'V-1', serviceStatus: null, canTow: null };
    await violations.settle(second, takenAs('V-1', { acceptedViolation: broken }));

    expect(await readViolation(stores, 'U1')).toMatchObject({ ...whole, state: 'accepted' });
  });

  test('an accepted answer without a claim settles the violation once the attempt in flight is given back', async () => {
    const claim = await violationClaimThatIsLost();
    const second = await mustClaimViolation(violations, 'U1');
    await violations.settle(claim, takenAs('V-1'));

    await violations.giveBack(second, { kind: 'images_unseen', delayMs: 0 });

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
    expect((await violations.claim('U1')).kind).toBe('cleanup');
  });

  test('an accepted answer without a claim settles the violation once the worker of the attempt in flight is lost', async () => {
    const claim = await violationClaimThatIsLost();
    await mustClaimViolation(violations, 'U1');
    await violations.settle(claim, takenAs('V-1'));
    await endLease(stores.redis, violationKey('U1'));

    expect((await violations.claim('U1')).kind).toBe('cleanup');

    expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-1' });
  });
});

describe('a create whose claim was lost and whose call had no answer', () => {
  test('is not sent again by itself: an unanswered violation', async () => {
    const claim = await violationClaimThatIsLost();
    await violations.settle(claim, outcome({ next: 'unknown', delayMs: 0 }));

    expect((await readViolation(stores, 'U1')).state).toBe('unknown');
    expect((await violations.claim('U1')).kind).toBe('escalated');
  });

  test('waits for its proof before it is sent again: an unanswered invoice', async () => {
    const claim = await claimThatIsLost();
    await stores.outbox.settle(claim, result({ next: 'unknown', delayMs: 60_000 }));

    expect(await invoice()).toMatchObject({ state: 'unknown', possibleEffects: 1 });
    expect((await stores.read('T1')).timeline.at(-1)).toMatchObject({ type: 'report.unknown' });
    expect((await stores.outbox.claim('T1')).kind).toBe('wait');

    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
    expect(await invoice()).toMatchObject({ state: 'accepted' });
  });

  test('allows no third create after a second one without an answer', async () => {
    const first = await claimThatIsLost();
    const second = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(first, result({ next: 'unknown', delayMs: 0 }));
    await stores.outbox.settle(second, result({ next: 'unknown', delayMs: 0 }));

    expect((await stores.outbox.claim('T1')).kind).toBe('escalated');
  });

  test('is counted once when its result is stored again', async () => {
    const claim = await claimThatIsLost();
    await stores.outbox.settle(claim, result({ next: 'unknown', delayMs: 0 }));
    await stores.outbox.settle(claim, result({ next: 'unknown', delayMs: 0 }));

    expect((await stores.outbox.claim('T1')).kind).toBe('send');
  });

  test('is sent again at once when the call surely had no effect', async () => {
    const claim = await claimThatIsLost();
    const notSent = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;
    await stores.outbox.settle(claim, result(notSent, { exchange: NOT_SENT }));

    expect((await stores.outbox.claim('T1')).kind).toBe('send');
  });
});

test('the accepted answer of a frozen worker keeps its reference although a person accepted the violation without one', async () => {
  const guide = openOutbox(stores, { leaseMs: 20_000, graceMs: 0 });
  await report(stores, violationOf('U1', { api: 'guide' }));
  const frozen = await mustClaimViolation(guide, 'U1');
  await endLease(stores.redis, violationKey('U1'));
  await claimAs(guide, 'U1', 'escalated');
  await decide(stores, 'U1', { action: 'accept', reason: 'seen at the service', reference: null });

  expect((await guide.settle(frozen, takenAs('V-77'))).kind).toBe('late');

  expect(await readViolation(stores, 'U1')).toMatchObject({ state: 'accepted', reference: 'V-77' });
  expect(await idNamed(stores, 'V-77')).toBe('U1');
});

test('the accepted answer to an invoice request that was corrected meanwhile accepts it and opens a task', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  const frozen = await mustClaim(stores.outbox, 'T1');
  await endLease(stores.redis, towKey('T1'));
  await stores.outbox.claim('T1');
  await changeEntry(stores.redis, { ref: 'T1' }, 2, { revision: 2 });

  expect((await stores.outbox.settle(frozen, accepted())).kind).toBe('late_accepted');

  expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
  expect((await stores.read('T1')).tasks.map(({ type }) => type)).toEqual(['invoice_before_correction']);
});
