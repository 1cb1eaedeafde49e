import { systemClock } from '../../src/platform/clock';
import { createIntake } from '../../src/store/webhook/deliveries';
import { KEYS } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { recordsOf } from '../../src/store/outbox/records';
import { PUT_OFF_MS, putOffDue } from '../../src/store/outbox/wake';
import { NO_LIMITS } from '../support/outboxes';
import { ACCEPTED, GRACE_MS, INVOICE, mustClaim, result, START, towRequest, useStores } from '../support/stores';

const stores = useStores();
const redis = stores.server;
/** The jobs that were added, each as its queue and its records. */
let added: string[];
const wake = (queue: string, refs: readonly string[]) => void added.push(`${queue}: ${refs.join()}`);

beforeEach(() => {
  added = [];
  recordsOf(stores.redis).wakeWith(wake);
});

const addedSoFar = () => added.splice(0);
const delivery = (id: string) => ({
  id,
  kind: 'tow_request' as const,
  towingReferenceId: id,
  rawBody: JSON.stringify(towRequest(id)),
  verified: false,
  signatureId: null,
  signedAtMs: null,
});

test.each([
  [KEYS.dueDeliveries, 'deliveries'],
  [KEYS.dueTows, 'reports'],
  [KEYS.dueViolations, 'violations'],
  [KEYS.dueRuns, 'runs'],
  [KEYS.dueSubscriptions, 'subscriptions'],
])(
  'what a commit schedules in %s for now gets a job in %s and is put off, and what is due later is not',
  (key, queue) => {
    const { due, effects } = putOffDue(
      [
        ['ZADD', key, 5, 'now'],
        ['ZADD', key, 6, 'later'],
        ['ZREM', key, 'gone'],
        ['ZADD', KEYS.indexTows, 4, 'no schedule'],
      ],
      5,
    );

    expect(due).toEqual([{ queue, ref: 'now' }]);
    expect(effects).toEqual([
      ['ZADD', key, 5 + PUT_OFF_MS, 'now'],
      ['ZADD', key, 6, 'later'],
      ['ZREM', key, 'gone'],
      ['ZADD', KEYS.indexTows, 4, 'no schedule'],
    ]);
  },
);

test('webhooks that are stored together get one job, with each of them once, and are due after its time', async () => {
  const intake = createIntake(stores.redis, systemClock, wake);
  // Redis knows the script afterwards.
  await intake.accept(delivery('d0'));
  addedSoFar();
  const beganMs = Date.now();

  await Promise.all(['d1', 'd2', 'd1'].map((id) => intake.accept(delivery(id))));

  expect(addedSoFar()).toEqual(['deliveries: d1,d2']);
  expect(Number(await stores.redis.zscore(KEYS.dueDeliveries, 'd1'))).toBeGreaterThan(beganMs + PUT_OFF_MS / 2);
});

test('a webhook whose script Redis has lost gets its job again after the script was sent as text', async () => {
  const intake = createIntake(stores.redis, systemClock, wake);
  await intake.accept(delivery('d1'));
  addedSoFar();
  await redis.ask('SCRIPT', 'FLUSH');

  await intake.accept(delivery('d2'));

  expect(addedSoFar()).toEqual(['deliveries: d2', 'deliveries: d2']);
});

test('a fact adds a job only while no report of its tow is due or in flight', async () => {
  await stores.request('T1');
  addedSoFar();

  await stores.say('T1', START);
  expect(addedSoFar()).toEqual(['reports: T1']);
  expect(await stores.dueAt('T1')).toBeGreaterThan(Date.now());

  const settings = { leaseMs: 60_000, graceMs: GRACE_MS, ...NO_LIMITS };
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  const claim = await mustClaim(outbox, 'T1');
  await stores.say('T1', INVOICE);
  expect(addedSoFar()).toEqual([]);

  await outbox.settle(claim, result(ACCEPTED));
  expect(addedSoFar()).toEqual(['reports: T1']);
});

test('a tow request adds a job for the invoices that waited for it', async () => {
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await stores.accept('tow_request', towRequest('T1'), 'd1');
  addedSoFar();

  await stores.process('d1');

  expect(addedSoFar()).toEqual(['deliveries: invoice-T1']);
});
