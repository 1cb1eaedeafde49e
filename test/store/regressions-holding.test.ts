import { messageOf } from '../../src/domain/outbox/exchange-message';
import { systemClock } from '../../src/platform/clock';
import { slidingWindow } from '../../src/store/service/budgets';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { TOO_OLD } from '../support/exchanges';
import { type TowOutbox, NO_LIMITS } from '../support/outboxes';
import { eventually } from '../support/eventually';
import { ACCEPTED, GRACE_MS, INVOICE, LEASE_MS, mustClaim, useStores, result, START, UNKNOWN } from '../support/stores';
import { readEntry } from '../support/stored-records';

const stores = useStores();

const DROPPED = { next: 'hold', delayMs: 0, because: 'dropped' } as const;
const RETRY = { next: 'retry', delayMs: 0, because: 'failed' } as const;

function outboxWith(also: Partial<Parameters<typeof createTowOutbox>[2]>): TowOutbox {
  const settings = { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...NO_LIMITS, ...also };
  return createTowOutbox(stores.redis, systemClock, settings);
}

async function startedTow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

async function towAtInvoice(ref: string): Promise<void> {
  await startedTow(ref);
  await stores.say(ref, INVOICE);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
}

/** Gives up the head of a tow. */
async function givenUp(ref: string): Promise<TowOutbox> {
  const outbox = outboxWith({ giveUpAfterMs: 1 });
  await outbox.settle(await mustClaim(outbox, ref), result(RETRY));
  await eventually(async () => expect((await outbox.claim(ref)).kind).toBe('escalated'));
  return outbox;
}

test('a report whose worker is lost every time is retried later each time', async () => {
  await startedTow('T1');
  const outbox = outboxWith({ leaseMs: 0, giveUpAfterMs: 3_600_000 });
  await mustClaim(outbox, 'T1');
  await mustClaim(outbox, 'T1');

  expect((await outbox.claim('T1')).kind).toBe('wait');
  expect(await readEntry(stores.redis, { ref: 'T1' }, 1)).toMatchObject({ failures: 2 });
});

test('a report whose worker is lost every time is finally given up', async () => {
  await startedTow('T1');
  const outbox = outboxWith({ leaseMs: 0, giveUpAfterMs: 100 });
  await mustClaim(outbox, 'T1');

  await eventually(async () => expect(await outbox.claim('T1')).toMatchObject({ kind: 'escalated', why: 'given_up' }));
});

test('a report whose claims are repeatedly too old waits, can be given up and shows the reason', async () => {
  await startedTow('T1');
  const tooOld = () => result(DROPPED, { exchange: TOO_OLD });
  for (let turn = 0; turn < 3; turn += 1) {
    expect((await stores.read('T1')).reports[0]?.giveUpAtMs).toBeNull();
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), tooOld());
  }

  expect((await stores.outbox.claim('T1')).kind).toBe('wait');
  const [report] = (await stores.read('T1')).reports;
  expect(report).toMatchObject({ attempts: 0, error: { message: messageOf(TOO_OLD) } });
  expect(report?.giveUpAtMs).not.toBeNull();
});

test('claims that are too old count only in a row: an attempt that was sent ends it', async () => {
  await startedTow('T1');
  const tooOld = () => result(DROPPED, { exchange: TOO_OLD });
  for (const ended of [tooOld(), tooOld(), result(RETRY), tooOld(), tooOld()]) {
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), ended);
  }

  // After a third one in a row, the report would wait.
  expect((await stores.outbox.claim('T1')).kind).toBe('send');
});

test.each([
  ['was not sent again', null],
  ['was sent too', UNKNOWN],
])(
  'a corrected invoice that %s is settled with a task, since the webhook may prove its older body',
  async (_what, end) => {
    await towAtInvoice('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(RETRY));
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result({ next: 'refused', hint: null }));
    await stores.decide('T1', 'invoice-2', { action: 'correct', fields: { delay_in_days: 7 } });
    if (end) await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(end));

    await stores.acceptInvoice('T1');

    expect((await stores.outbox.claim('T1')).kind).toBe('idle');
    expect((await stores.read('T1')).tasks).toMatchObject([
      { type: 'invoice_before_correction', actions: ['resolve'] },
    ]);
  },
);

test('the proof of an invoice that was given up stays on the schedule when the webhook is attached', async () => {
  await towAtInvoice('T1');
  const outbox = await givenUp('T1');

  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');

  expect(await stores.dueAt('T1')).not.toBeNull();
  expect((await outbox.claim('T1')).kind).toBe('idle');
});

test('a released tow of the lower priority class moves up in the rate limit queue', async () => {
  for (const ref of ['D1', 'D2']) {
    await startedTow(ref);
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
    await stores.say(ref, { event: 'detained' });
  }
  await startedTow('A');
  const outbox = outboxWith({ rateLimit: slidingWindow(1) });
  await mustClaim(outbox, 'A');
  for (const ref of ['D1', 'D2']) await outbox.claim(ref);
  await stores.say('D2', { event: 'released' });
  await outbox.claim('D2');

  expect(await stores.redis.zrangebyscore('{towhook-main}:budget-waiting', '-inf', '+inf')).toEqual(['D2', 'D1']);
});

test('a retry closes the task of a report that was given up', async () => {
  await startedTow('T1');
  const outbox = await givenUp('T1');
  await stores.decide('T1', 'started-1', { action: 'retry' });

  expect((await stores.read('T1')).tasks).toEqual([]);
  expect((await outbox.claim('T1')).kind).toBe('send');
});
