import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { dueMembersOf, nudgesOf, onNudges } from '../../src/store/nudges';
import { createTowOutbox } from '../../src/store/outbox';
import { recordsOf } from '../../src/store/records';
import { eventually } from '../support/eventually';
import { openConnection, useRedis } from '../support/redis';
import {
  ACCEPTED,
  GRACE_MS,
  INVOICE,
  mustClaim,
  openStores,
  result,
  START,
  towRequest,
  type Stores,
} from '../support/stores';
import { NO_LIMITS } from '../support/outboxes';

const redis = useRedis();
let stores: Stores;
let heard: string[];
let stop: () => void;

beforeEach(async () => {
  stores = await openStores(redis.url);
  const subscriber = await openConnection(redis.url);
  heard = [];
  await onNudges(subscriber, (schedule) => heard.push(schedule));
  stop = () => subscriber.disconnect();
});
afterEach(() => {
  stop();
  stores.close();
});

/** No test makes work of this queue due. */
const END = 'bulk';

/** What was heard until now: what is published later is heard later. */
async function heardSoFar(): Promise<readonly string[]> {
  await stores.redis.publish('{p0}:nudges', 'queue of a later version');
  await stores.redis.publish('{p0}:nudges', END);
  await eventually(() => expect(heard).toContain(END));
  return heard.splice(0).filter((schedule) => schedule !== END);
}

test.each([
  [KEYS.dueDeliveries, 'deliveries'],
  [KEYS.dueTows, 'reports'],
  [KEYS.dueViolations, 'violations'],
  [KEYS.dueBulk, 'bulk'],
])(
  'a commit that schedules members of %s for now nudges the schedulers of %s once, and for later not at all',
  (key, schedule) => {
    const now = dueMembersOf(
      [
        ['ZADD', key, 4, 'one'],
        ['ZADD', key, 5, 'two'],
        ['ZREM', key, 'three'],
      ],
      5,
    );
    const later = dueMembersOf(
      [
        ['ZADD', key, 6, 'one'],
        ['ZADD', KEYS.indexTows, 4, 'two'],
      ],
      5,
    );

    expect(now.map(({ ref }) => ref)).toEqual(['one', 'two']);
    expect([nudgesOf(now), nudgesOf(later)]).toEqual([[['PUBLISH', KEYS.nudges, schedule]], []]);
  },
);

test('webhooks that are stored together nudge the schedulers of deliveries, once each', async () => {
  await Promise.all(['d1', 'd2', 'd1'].map((id) => stores.accept('tow_request', towRequest(id), id)));

  expect(await heardSoFar()).toEqual(['deliveries', 'deliveries']);
  expect(await redis.ask('EXISTS', KEYS.immediateDeliveries)).toBe(0);
});

test('a fact nudges the schedulers of reports only while no report of its tow is due or in flight', async () => {
  await stores.request('T1');
  await heardSoFar();

  await stores.say('T1', START);
  expect(await heardSoFar()).toEqual(['reports']);

  const settings = { leaseMs: 60_000, graceMs: GRACE_MS, ...NO_LIMITS };
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  const claim = await mustClaim(outbox, 'T1');
  await stores.say('T1', INVOICE);
  expect(await heardSoFar()).toEqual([]);

  await outbox.settle(claim, result(ACCEPTED));
  expect(await heardSoFar()).toEqual(['reports']);
});

test('a fact of a process with immediate tows hands its tow to a worker and nudges no scheduler', async () => {
  await stores.request('T1');
  await heardSoFar();
  recordsOf(stores.redis).useImmediateTows();

  await stores.say('T1', START);

  expect(await heardSoFar()).toEqual([]);
  expect(await redis.ask('LRANGE', KEYS.immediateTows, '0', '-1')).toEqual(['T1']);
  expect(await stores.dueAt('T1')).toBeLessThanOrEqual(Date.now());
});

test('a tow request with parked invoices nudges the schedulers of deliveries again', async () => {
  await stores.acceptInvoice('T1');
  await stores.process('invoice-T1');
  await stores.accept('tow_request', towRequest('T1'), 'd1');
  await heardSoFar();

  await stores.process('d1');

  expect(await heardSoFar()).toEqual(['deliveries']);
});

test('an invoice webhook nudges the schedulers of reports at once because it may prove an invoice request', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', INVOICE);
  await heardSoFar();

  await stores.acceptInvoice('T1');

  expect(await heardSoFar()).toEqual(['reports']);
});
