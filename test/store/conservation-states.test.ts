import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { towKey } from '../../src/store/keys';
import { decideReport } from '../../src/workflow/outbox/decide';
import { refusedWith } from '../support/exchanges';
import { reportIn } from '../support/outboxes';
import { standings } from '../support/conservation';
import { eventually } from '../support/eventually';
import { leaseUntilMs } from '../support/stored-records';
import { ACCEPTED, INVOICE, mustClaim, useStores, result, START, towRequest, UNKNOWN } from '../support/stores';
import { retire } from './tow-lists';

const stores = useStores();

const deliveries = async () => (await standings(stores.redis)).deliveries;
const reports = async () => (await standings(stores.redis)).reports;

describe('conservation check: deliveries', () => {
  test('a delivery waits from its acknowledgement until it is processed', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    expect(await deliveries()).toEqual({ waiting: 1 });

    await stores.process('d1');

    expect(await deliveries()).toEqual({ finished: 1 });
  });

  test('a delivery that is accepted twice is counted once', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    await stores.accept('tow_request', towRequest('T1'), 'd1');

    expect(await deliveries()).toEqual({ waiting: 1 });
  });

  test('a delivery waits while its processing fails, also after it has opened a task', async () => {
    await stores.accept('tow_request', towRequest('T1'), 'd1');
    for (let failure = 1; failure <= 10; failure += 1) await stores.fail('d1');

    expect(await stores.redis.hkeys('{towhook-main}:tasks')).toEqual(['delivery_failing-d1.T1']);
    expect(await deliveries()).toEqual({ waiting: 1 });
  });

  test('a delivery waits while it is replayed', async () => {
    await stores.request('T1');
    await stores.replay('request-T1');

    expect(await deliveries()).toEqual({ waiting: 1 });
  });

  test('a delivery is parked until its tow is requested, and then waits', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    expect(await deliveries()).toEqual({ parked: 1 });

    await stores.request('T1');
    expect(await deliveries()).toEqual({ finished: 1, waiting: 1 });

    await stores.process('invoice-T1');
    expect(await deliveries()).toEqual({ finished: 2 });
  });

  test('a delivery that is parked for too long is escalated, and finished once it is set aside', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await stores.redis.hset('{towhook-main}:delivery:invoice-T1', 'parkedAtMs', 1);
    await stores.process('invoice-T1');
    expect(await deliveries()).toEqual({ with_a_person: 1 });

    expect(await stores.resolve('invoice_parked.T1')).toBe('done');
    expect(await deliveries()).toEqual({ finished: 1 });
  });

  test('a delivery that is parked for too long is still attached to its tow', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await stores.redis.hset('{towhook-main}:delivery:invoice-T1', 'parkedAtMs', 1);
    await stores.process('invoice-T1');

    await stores.request('T1');
    expect(await deliveries()).toEqual({ finished: 1, waiting: 1 });
    await stores.process('invoice-T1');
    expect(await deliveries()).toEqual({ finished: 2 });
  });

  test('a delivery that is processed after its tow was archived waits, and is finished as late', async () => {
    await stores.acceptInvoice('T1');
    await stores.process('invoice-T1');
    await stores.request('T1');
    await stores.say('T1', { event: 'canceled', cancellationReason: 'gone on arrival' });
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    await retire(stores, 'T1');

    expect(await standings(stores.redis)).toEqual({ deliveries: { finished: 1, waiting: 1 }, reports: {} });

    expect(await stores.process('invoice-T1')).toBe('late');
    expect(await deliveries()).toEqual({ finished: 2 });
  });
});

describe('conservation check: reports', () => {
  /** A tow whose head is the invoice: started is accepted, the invoice is owed. */
  async function towAtInvoice(ref: string): Promise<void> {
    await stores.request(ref);
    await stores.say(ref, START);
    await stores.say(ref, INVOICE);
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
  }

  const actor = { id: 'k1', name: 'tester', role: 'ops' } as const;
  const tools = () => stores.progress;

  test('a report and all later ones wait until it is accepted', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.say('T1', { event: 'detained' });
    expect(await reports()).toEqual({ waiting: 2 });

    const claimed = await mustClaim(stores.outbox, 'T1');
    expect(await reports()).toEqual({ waiting: 2 });
    await stores.outbox.settle(claimed, result({ next: 'retry', delayMs: 0, because: 'failed' }));
    expect(await reports()).toEqual({ waiting: 2 });
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    expect(await reports()).toEqual({ finished: 1, waiting: 1 });
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    expect(await reports()).toEqual({ finished: 2 });
  });

  test('a report whose worker is lost waits', async () => {
    await towAtInvoice('T1');
    await mustClaim(stores.outbox, 'T1');
    expect(await reports()).toEqual({ finished: 1, waiting: 1 });

    await eventually(async () => expect((await stores.read('T1')).readAtMs).toBeGreaterThan(await leaseEnd('T1')));

    expect(await reports()).toEqual({ finished: 1, waiting: 1 });
    await eventually(async () => expect((await stores.outbox.claim('T1')).kind).toBe('wait'));
    expect(await reports()).toEqual({ finished: 1, waiting: 1 });
  });

  test('a refused report is escalated, later reports wait, and each decision continues it', async () => {
    const decisions = [{ action: 'retry' }, { action: 'waive', reason: 'by phone' }] as const;
    for (const [index, command] of decisions.entries()) {
      const ref = `T${index}`;
      await stores.request(ref);
      await stores.say(ref, START);
      await stores.say(ref, { event: 'detained' });
      const claimed = await mustClaim(stores.outbox, ref);
      const words = { httpStatus: 400, message: 'no', hint: null };
      const task = refusedTask({ ...reportIn(claimed), ...words });
      await stores.outbox.settle(
        claimed,
        result({ next: 'refused', hint: null }, { exchange: refusedWith(400, 'no'), task }),
      );
      expect(await reports()).toMatchObject({ with_a_person: 1 });

      await decideReport(tools(), { ref, reportId: claimed.entry.id, command, actor });
    }
    expect(await reports()).toEqual({ waiting: 3, finished: 1 });
  });

  test('a report of unknown outcome waits for proof, and is escalated after its last attempt until proof arrives', async () => {
    await towAtInvoice('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(UNKNOWN));
    expect(await reports()).toEqual({ finished: 1, waiting: 1 });
    await stores.outbox.settle(await eventually(() => mustClaim(stores.outbox, 'T1')), result(UNKNOWN));
    expect(await reports()).toEqual({ finished: 1, waiting: 1 });
    await eventually(async () => expect((await stores.outbox.claim('T1')).kind).toBe('escalated'));
    expect(await reports()).toEqual({ finished: 1, with_a_person: 1 });

    await stores.acceptInvoice('T1');
    expect(await reports()).toEqual({ finished: 1, with_a_person: 1 });
    expect((await stores.outbox.claim('T1')).kind).toBe('idle');
    expect(await reports()).toEqual({ finished: 2 });
  });

  test('a report waits behind an accepted invoice', async () => {
    await towAtInvoice('T1');
    await stores.outbox.settle(await mustClaim(stores.outbox, 'T1'), result(ACCEPTED));
    await stores.say('T1', { event: 'payment' });
    expect(await reports()).toEqual({ finished: 2, waiting: 1 });
  });

  test('a report withdrawn by a cancel is finished, and the cancel waits behind the start', async () => {
    await stores.request('T1');
    await stores.say('T1', START);
    await stores.say('T1', INVOICE);
    await stores.say('T1', { event: 'canceled', cancellationReason: 'Owner came back' });

    expect(await reports()).toEqual({ finished: 1, waiting: 2 });
  });

  const leaseEnd = (ref: string) => leaseUntilMs(stores.redis, towKey(ref));
});
