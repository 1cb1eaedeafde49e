import { towKey, violationKey } from '../../src/store/keys';
import type { ViolationImage } from '../../src/domain/violation/violation';
import { refusedWith } from '../support/exchanges';
import { copyRecord, readEntry } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, result, START, UNKNOWN, useStores, type Stores } from '../support/stores';
import { decide, mustClaimViolation, openOutbox, reportViolations, takenAs } from '../support/violations';

/**
 * Redis loses its last writes, in a failover to a replica that lags, while a call is on its way. What is recorded in place
 * of a lost fact or correction gets the number of that, and must not be settled by the answer to the lost one.
 */

const stores = useStores();

const reportAt = (seq: number) => readEntry(stores.redis, { ref: 'T1' }, seq);
const say = (command: Parameters<Stores['say']>[1]) => stores.say('T1', command);

/** A tow on its way, and a function that loses all later writes to it. */
async function startedTow(): Promise<() => Promise<void>> {
  await stores.request('T1');
  await say(START);
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
  return copyRecord(stores.redis, towKey('T1'));
}

describe('the answer to a report whose fact was lost', () => {
  test('accepts no report of another kind with the same number', async () => {
    const loseWrites = await startedTow();
    await say({ event: 'detained' });
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say(INVOICE);

    expect((await stores.outbox.settle(lost, result(ACCEPTED))).kind).toBe('gone');

    expect(await reportAt(2)).toMatchObject({ kind: 'invoice', state: 'pending', log: [] });
    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { id: 'invoice-2', attempts: 1 } });
  });

  test('counts no unanswered call of a report of another kind with the same number', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say({ event: 'detained' });

    expect((await stores.outbox.settle(lost, result(UNKNOWN))).kind).toBe('gone');

    expect(await reportAt(2)).toMatchObject({ kind: 'detained', state: 'pending', unanswered: 0 });
  });

  test('does not accept the same fact, recorded again with other data: it is sent', async () => {
    await stores.request('T1');
    const loseWrites = await copyRecord(stores.redis, towKey('T1'));
    await say(START);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say({ ...START, plateNumber: 'XYZ 9876' });

    expect((await stores.outbox.settle(lost, result(ACCEPTED))).kind).toBe('late');

    expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { body: { plate_number: 'XYZ 9876' } } });
  });

  test('accepts an invoice that is recorded again, since the service must not get a second one, and asks a person', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say({ ...INVOICE, delayInDays: 3 });

    expect((await stores.outbox.settle(lost, result(ACCEPTED))).kind).toBe('late_accepted');

    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
    expect((await stores.read('T1')).tasks.map(({ type }) => type)).toEqual(['invoice_before_correction']);
  });

  test('accepts the same fact, recorded again with the same data', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say(INVOICE);

    expect((await stores.outbox.settle(lost, result(ACCEPTED))).kind).toBe('late_accepted');

    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
    expect((await stores.read('T1')).tasks).toEqual([]);
  });

  test('leaves an invoice that waits for a decision with the person, when the lost request had no answer', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say(INVOICE);
    const refusal = { exchange: refusedWith(400, 'Vehicle type not found') };
    const again = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(again, result({ next: 'refused', hint: null }, refusal));

    expect((await stores.outbox.settle(lost, result(UNKNOWN))).kind).toBe('late');

    expect(await reportAt(2)).toMatchObject({ state: 'refused', nextAtMs: null, unanswered: 1 });
    expect(await stores.outbox.claim('T1')).toEqual({ kind: 'needs_action' });
  });

  test('leaves an invoice in flight that is recorded again, when the lost request had no answer', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say(INVOICE);
    const { attemptId } = await mustClaim(stores.outbox, 'T1');

    expect((await stores.outbox.settle(lost, result(UNKNOWN))).kind).toBe('late');

    expect(await reportAt(2)).toMatchObject({ state: 'sending', attemptId, unanswered: 1 });
  });

  test('asks a person about the invoice that a webhook proves after the lost request had no answer', async () => {
    const loseWrites = await startedTow();
    await say(INVOICE);
    const lost = await mustClaim(stores.outbox, 'T1');
    await loseWrites();
    await say({ ...INVOICE, delayInDays: 3 });

    expect((await stores.outbox.settle(lost, result(UNKNOWN))).kind).toBe('late');
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await stores.outbox.claim('T1');

    expect(await reportAt(2)).toMatchObject({ state: 'accepted', acceptedHow: 'proved_by_webhook' });
    expect((await stores.read('T1')).tasks.map(({ type }) => type)).toEqual(['invoice_before_correction']);
  });
});

test('the answer to a correction that was lost does not accept another correction of the same number', async () => {
  await stores.request('T1');
  await say(START);
  const loseWrites = await copyRecord(stores.redis, towKey('T1'));
  const correct = (plateNumber: string) =>
    stores.decide('T1', 'started-1', { action: 'correct', fields: { plate_number: plateNumber } });
  await correct('XYZ 1111');
  const lost = await mustClaim(stores.outbox, 'T1');
  await loseWrites();
  await correct('XYZ 2222');

  expect((await stores.outbox.settle(lost, result(ACCEPTED))).kind).toBe('late');

  expect(await mustClaim(stores.outbox, 'T1')).toMatchObject({ entry: { body: { plate_number: 'XYZ 2222' } } });
});

describe('the answer to a replacement of images that was lost', () => {
  const image = (sha256: string): ViolationImage => ({
    file: `${sha256}.jpg`,
    name: 'front.jpg',
    contentType: 'image/jpeg',
    sizeBytes: 3,
    sha256,
  });
  const replaceImages = (...images: readonly ViolationImage[]) =>
    decide(stores, 'U1', { action: 'correct', fields: {}, images });

  /** Replaces the image of a violation, loses that while its call is under way, and replaces it again. */
  async function answeredAfter(again: ViolationImage): Promise<void> {
    const violations = openOutbox(stores, { leaseMs: 20_000 });
    await reportViolations(stores, 'U1');
    const loseWrites = await copyRecord(stores.redis, violationKey('U1'));
    expect(await replaceImages(image('lost'))).toBe('saved');
    const lost = await mustClaimViolation(violations, 'U1');
    await loseWrites();
    expect(await replaceImages(again)).toBe('saved');

    expect((await violations.settle(lost, takenAs('V-1'))).kind).toBe('late_accepted');
  }

  test('asks a person about the violation that has other images now', async () => {
    await answeredAfter(image('other'));

    expect((await stores.generalTasks()).map(({ type }) => type)).toEqual(['violation_before_correction']);
  });

  test('asks nothing when the same image was uploaded again', async () => {
    await answeredAfter({ ...image('lost'), file: 'uploaded-again.jpg' });

    expect(await stores.generalTasks()).toEqual([]);
  });
});
