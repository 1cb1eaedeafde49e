import { systemClock } from '../../src/platform/clock';
import { towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { NOT_SENT, refusedWith } from '../support/exchanges';
import { NO_LIMITS } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { changeEntry, endLease } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, result, START, UNKNOWN, useStores } from '../support/stores';

// A lease ends only where a test ends it.
const stores = useStores({ leaseMs: 60_000 });

/** A tow whose head is the invoice: started is accepted, the invoice is owed. */
async function towAtInvoice(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
  await stores.say(ref, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

const claimsToSend = async (ref: string) => eventually(() => mustClaim(stores.outbox, ref));
const loseWorker = (ref: string) => endLease(stores.redis, towKey(ref));

test('reports are sent in the order of their facts, each after the previous one was accepted', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', { event: 'detained' });
  await stores.say('T1', { event: 'released' });

  const sent: string[] = [];
  for (let step = 0; step < 3; step += 1) {
    const claim = await mustClaim(stores.outbox, 'T1');
    sent.push(claim.entry.kind);
    expect((await stores.outbox.claim('T1')).kind).toBe('busy');
    const stored = await stores.outbox.settle(claim, result(ACCEPTED));
    expect(stored).toEqual({ kind: 'done', next: null });
  }

  expect(sent).toEqual(['started', 'detained', 'released']);
  expect(await stores.outbox.claim('T1')).toEqual({ kind: 'idle' });
  expect(await stores.dueAt('T1')).toBeNull();
});

test('a report body keeps every digit and letter from the fact to the claim', async () => {
  await stores.request('T1');
  await stores.say('T1', { ...START, towedLocation: 'شارع العليا "5" \\ \u{1f697}' });

  const claim = await mustClaim(stores.outbox, 'T1');

  expect(claim.entry.body).toMatchObject({
    latitude: 24.7136123456789,
    towed_location: 'شارع العليا "5" \\ \u{1f697}',
  });
});

test('only one of two workers that claim a report at the same time may send it', async () => {
  await stores.request('T1');
  await stores.say('T1', START);

  const outbox = createTowOutbox(stores.redis, systemClock, { leaseMs: 60_000, graceMs: 0, ...NO_LIMITS });
  const claims = await Promise.all(Array.from({ length: 20 }, () => outbox.claim('T1')));

  expect(claims.filter(({ kind }) => kind === 'send')).toHaveLength(1);
  expect(claims.filter(({ kind }) => kind === 'busy')).toHaveLength(19);
});

test('an answer under a lost claim does not change the report and is kept among its attempts', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  const lost = await mustClaim(stores.outbox, 'T1');
  await loseWorker('T1');
  const mine = await mustClaim(stores.outbox, 'T1');

  expect(await stores.outbox.settle(lost, result(ACCEPTED))).toEqual({ kind: 'late', next: null });

  expect(await stores.states('T1')).toEqual(['started pending']);
  expect((await stores.read('T1')).reports[0]?.log.map(({ outcome }) => outcome)).toEqual(['worker_lost', 'accepted']);
  expect(await stores.outbox.settle(mine, result(ACCEPTED))).toMatchObject({ kind: 'done' });
  expect(await stores.states('T1')).toEqual(['started accepted']);
});

test('an invoice request has an unknown outcome after its worker was lost while sending it', async () => {
  await towAtInvoice('T1');
  await mustClaim(stores.outbox, 'T1');
  expect(await stores.states('T1')).toEqual(['started accepted', 'invoice sending']);

  await loseWorker('T1');
  expect((await stores.outbox.claim('T1')).kind).toBe('wait');

  expect(await stores.states('T1')).toEqual(['started accepted', 'invoice unknown']);
});

test('a late answer settles only a report whose outcome is unknown', async () => {
  await towAtInvoice('T1');
  const lost = await mustClaim(stores.outbox, 'T1');
  await loseWorker('T1');
  expect((await stores.outbox.claim('T1')).kind).toBe('wait');

  expect(await stores.outbox.settle(lost, result(ACCEPTED))).toMatchObject({ kind: 'late_accepted' });

  expect(await stores.states('T1')).toEqual(['started accepted', 'invoice accepted']);
});

test('an invoice request of unknown outcome is sent once more and then waits for a decision', async () => {
  await towAtInvoice('T1');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result({ ...UNKNOWN, delayMs: 60_000 }));
  expect((await stores.outbox.claim('T1')).kind).toBe('wait');

  await changeEntry(stores.redis, { ref: 'T1' }, 2, { nextAtMs: 1 });
  const second = await mustClaim(stores.outbox, 'T1');
  expect(second).toMatchObject({ entry: { kind: 'invoice', attempts: 2, unanswered: 1 } });
  await stores.outbox.settle(second, result(UNKNOWN));

  await untilHandedOver('T1');
  const { tasks, reports, timeline } = await stores.read('T1');
  expect(tasks).toMatchObject([
    { type: 'report_unknown', actions: ['accept', 'retry', 'waive'], report_id: 'invoice-2' },
  ]);
  const unknown = { type: 'report.unknown', report_id: 'invoice-2' };
  expect(timeline.filter(({ type }) => type === 'report.unknown')).toMatchObject([unknown, unknown]);
  expect(reports[1]).toMatchObject({ state: 'unknown', attempts: 2, nextAtMs: null });
  expect(await stores.dueAt('T1')).toBeNull();
});

test('an invoice webhook after the first request proves the invoice, prevents a second request and opens no task', async () => {
  await towAtInvoice('T1');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(UNKNOWN));

  await stores.acceptInvoice('T1');

  expect((await stores.outbox.claim('T1')).kind).toBe('idle');
  expect(await stores.states('T1')).toEqual(['started accepted', 'invoice accepted']);
  expect((await stores.read('T1')).tasks).toEqual([]);
});

test('proof of an escalated invoice closes its task and continues the tow', async () => {
  await towAtInvoice('T1');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(UNKNOWN));
  await stores.outbox.settle(await claimsToSend('T1'), result(UNKNOWN));
  await untilHandedOver('T1');

  await stores.acceptInvoice('T1');

  expect(await stores.dueAt('T1')).not.toBeNull();
  expect((await stores.outbox.claim('T1')).kind).toBe('idle');
  const { tasks, reports } = await stores.read('T1');
  expect(tasks).toEqual([]);
  expect(reports[1]?.state).toBe('accepted');
});

test('an invoice webhook from before the first request does not prove the invoice', async () => {
  await towAtInvoice('T1');
  await stores.acceptInvoice('T1');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(UNKNOWN));

  const second = await claimsToSend('T1');

  expect(second).toMatchObject({ entry: { kind: 'invoice', attempts: 2 } });
});

test('an invoice webhook does not prove a request that surely had no effect', async () => {
  await towAtInvoice('T1');
  const refusedConnection = { next: 'retry', delayMs: 0, because: 'surely_not_sent' } as const;
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(refusedConnection, { exchange: NOT_SENT }));
  await stores.acceptInvoice('T1');

  expect(await claimsToSend('T1')).toMatchObject({ entry: { kind: 'invoice', attempts: 2, unanswered: 0 } });
});

test('a report keeps its first five and last twenty attempts and counts all of them', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  const retry = { next: 'retry', delayMs: 0, because: 'failed' } as const;
  for (let number = 1; number <= 40; number += 1) {
    const claim = await mustClaim(stores.outbox, 'T1');
    await stores.outbox.settle(claim, result(retry, { exchange: refusedWith(503, `attempt ${number}`) }));
  }

  const [report] = (await stores.read('T1')).reports;

  expect(report?.attempts).toBe(40);
  const kept = report?.log.map(({ message }) => Number(message?.split(' ')[1]));
  expect(kept).toEqual([1, 2, 3, 4, 5, ...Array.from({ length: 20 }, (_, index) => 21 + index)]);
});

test('a waiting report is due exactly when it may continue, and an escalated one is not due', async () => {
  await stores.request('T1');
  expect(await stores.dueAt('T1')).toBeNull();
  await stores.say('T1', START);
  expect(await stores.dueAt('T1')).not.toBeNull();

  const claim = await mustClaim(stores.outbox, 'T1');
  const leaseEnd = await stores.dueAt('T1');
  expect(leaseEnd).toBeGreaterThan((await stores.read('T1')).readAtMs);
  const retry = { next: 'retry', delayMs: 60_000, because: 'failed' } as const;
  await stores.outbox.settle(claim, result(retry));

  const { reports } = await stores.read('T1');
  expect(await stores.dueAt('T1')).toBe(reports[0]?.nextAtMs);
  expect(await stores.outbox.claim('T1')).toEqual({ kind: 'wait', untilMs: reports[0]?.nextAtMs });
});

/** Claims until a person must decide, as wake-ups do, and hands the report over. */
async function untilHandedOver(ref: string): Promise<void> {
  await eventually(async () => {
    const claim = await stores.outbox.claim(ref);
    if (claim.kind !== 'escalated') throw new Error(`not handed over yet: ${claim.kind}`);
    return claim;
  });
  expect((await stores.outbox.claim(ref)).kind).toBe('needs_action');
}
