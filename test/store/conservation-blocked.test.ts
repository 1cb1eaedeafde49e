import { refusedTask } from '../../src/domain/outbox/escalate-entry';
import { systemClock } from '../../src/platform/clock';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { FAILING, FORBIDDEN } from '../support/exchanges';
import { reportIn, NO_LIMITS } from '../support/outboxes';
import { standings } from '../support/conservation';
import { letTry } from '../support/stored-records';
import { ACCEPTED, GRACE_MS, LEASE_MS, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores();
beforeEach(async () => {
  for (const ref of REFS) {
    await stores.request(ref);
    await stores.say(ref, START);
    await stores.say(ref, { event: 'detained' });
  }
});

const REFS = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'];
const LATER_MS = 60_000;
/** Where all sixteen stand; one that was lost, or had to be repaired in order to be found, would show. */
const reports = async () => (await standings(stores.redis)).reports;
const claimAll = async () => {
  const kinds = [];
  for (const ref of REFS) kinds.push((await stores.outbox.claim(ref)).kind);
  return kinds;
};

test('the conservation check counts reports blocked by an outage as waiting, also during a probe and after the outage', async () => {
  const failing = () =>
    result({ next: 'retry', delayMs: 0, because: 'failed' }, { exchange: FAILING, outageDelayMs: LATER_MS });
  for (const ref of ['A', 'B', 'C', 'A', 'B'])
    await stores.outbox.settle(await mustClaim(stores.outbox, ref), failing());
  expect(await claimAll()).toEqual(REFS.map(() => 'wait'));
  expect(await reports()).toEqual({ waiting: 16 });

  await letTry(stores.redis, 'outage');
  const probe = await mustClaim(stores.outbox, 'D');
  expect(await reports()).toEqual({ waiting: 16 });
  await stores.outbox.settle(probe, result(ACCEPTED));

  expect(await reports()).toEqual({ waiting: 15, finished: 1 });
});

test('the conservation check counts reports blocked by a broken connection as waiting', async () => {
  const broken = { next: 'hold', delayMs: LATER_MS, because: 'connection' } as const;
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(broken));
  expect(await claimAll()).toEqual(REFS.map(() => 'wait'));

  expect(await reports()).toEqual({ waiting: 16 });
});

/** The service forbids the operation for three tows, which pauses it. */
async function forbidThree() {
  for (const ref of ['A', 'B', 'C']) {
    const claimed = await mustClaim(stores.outbox, ref);
    const { id, kind } = reportIn(claimed);
    const task = refusedTask({ id, kind, httpStatus: 403, message: 'Access denied', hint: null });
    await stores.outbox.settle(claimed, result({ next: 'refused', hint: null }, { exchange: FORBIDDEN, task }));
  }
}

test('the conservation check counts reports of a paused operation as waiting, also after it is resumed', async () => {
  await forbidThree();
  expect(await reports()).toEqual({ waiting: 14, with_a_person: 2 });

  expect(await claimAll()).toEqual(REFS.map(() => 'wait'));
  expect(await reports()).toEqual({ waiting: 16 });

  await stores.resume('started');
  expect(await reports()).toEqual({ waiting: 16 });
});

test('refused reports stay escalated when their operation is resumed before a worker has checked them', async () => {
  await forbidThree();
  await stores.resume('started');
  for (const ref of ['A', 'B']) await stores.outbox.claim(ref);

  expect(await reports()).toEqual({ waiting: 14, with_a_person: 2 });
});

test('the conservation check counts reports that wait for a rate limit permit as waiting', async () => {
  const limits = { ...NO_LIMITS, rateLimit: { limit: 2, windowMs: LATER_MS } };
  const settings = { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...limits };
  const outbox = createTowOutbox(stores.redis, systemClock, settings);
  const kinds = [];
  for (const ref of REFS) kinds.push((await outbox.claim(ref)).kind);
  expect(kinds).toEqual(['send', 'send', 'wait', 'wait', 'wait', 'wait', 'wait', 'wait']);

  expect(await reports()).toEqual({ waiting: 16 });
});

test('the conservation check counts reports with a Retry-After time as waiting', async () => {
  const asked = { next: 'retry', delayMs: LATER_MS, because: 'throttled' } as const;
  for (const ref of REFS) await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(asked));

  expect(await reports()).toEqual({ waiting: 16 });
});
