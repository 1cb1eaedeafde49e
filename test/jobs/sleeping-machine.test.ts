import type { Redis } from 'ioredis';
import { CALLS, runOutbox, type RunOutboxTools } from '../../jobs/run-outbox';
import { holdLease } from '../../jobs/renew-lease';
import type { StoredTow } from '../../src/domain/outbox/outbox-record';
import { startAge, systemClock } from '../../src/platform/clock';
import { createMemoryTokenCache } from '../../src/service';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { recordsOf } from '../../src/store/outbox/records';
import {
  clientFor,
  clientWithToken,
  movableClock,
  useFakeService,
  type MovableClock,
} from '../service/client-under-test';
import { enveloped, type FakeService } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { NO_LIMITS, type TowOutbox } from '../support/outboxes';
import { openConnection } from '../support/redis';
import { FAST_RETRIES, GRACE_MS, INVOICE, LEASE_MS, mustClaim, START, useStores } from '../support/stores';
import { unobserved } from '../support/unobserved';
import { unstopped } from './run-steps';

/** A worker on a machine that sleeps. Its monotonic clock stops; Redis and the other worker go on. */

const SAFE_AGE_MS = 5000;
/** Longer than a lease that need not be confirmed, and shorter than a claim that is not used. */
const SLEEP_MS = 1500;

const stores = useStores();
let fake: FakeService;
let connection: Redis;
let clock: MovableClock;
useFakeService((world) => ({ fake } = world));
beforeEach(async () => {
  connection = await openConnection(stores.server.url);
  clock = movableClock();
  recordsOf(connection, clock);
  fake.onCall(() => enveloped({ towing_reference_id: 'T1' }));
  await stores.request('T1');
  await stores.say('T1', START);
  await runSteady();
});
afterEach(() => connection.disconnect());

async function toolsOf(also: Partial<RunOutboxTools<StoredTow>>): Promise<RunOutboxTools<StoredTow>> {
  const service = await clientWithToken(fake.url);
  const { records, outbox } = stores;
  return { records, outbox, service, settings: FAST_RETRIES, claimMaxAgeMs: SAFE_AGE_MS, ...unobserved(), ...also };
}

const runSteady = async () => runOutbox(CALLS.tow, 'T1', await toolsOf({}), unstopped);
const outboxWith = (leaseMs: number) =>
  createTowOutbox(connection, clock, { leaseMs, graceMs: GRACE_MS, ...NO_LIMITS });

/** Runs the tow on the machine that sleeps: `asleep` happens after the claim, while the call gets its token. */
async function runSleepy(asleep: () => Promise<void>, also: { outbox?: TowOutbox } = {}) {
  const tokens = createMemoryTokenCache(systemClock);
  let isAwake = false;
  const read = async () => {
    if (!isAwake) await asleep();
    isAwake = true;
    return { token: 'known', expiresAtMs: null };
  };
  const service = clientFor(fake.url, { clock, tokens: { ...tokens, read } });
  const tools = await toolsOf({ outbox: outboxWith(LEASE_MS), service, clock, ...also });
  return runOutbox(CALLS.tow, 'T1', tools, unstopped);
}

const called = () => fake.calls.map(({ url }) => url.split('/').at(-1));

const PAUSES = [
  { pause: 'for longer than a claim may be old', ms: 60_000 },
  { pause: 'for a moment', ms: SLEEP_MS },
  { pause: 'while its time of day is set back', ms: -SLEEP_MS },
];

describe.each(PAUSES)('a worker whose machine sleeps $pause between claim and call', ({ ms }) => {
  test('sends no report that another worker has sent meanwhile', async () => {
    await stores.say('T1', { event: 'detained' });
    await runSleepy(async () => {
      await eventually(async () => {
        await runSteady();
        expect(await stores.states('T1')).toEqual(['started accepted', 'detained accepted']);
      });
      await stores.say('T1', { event: 'released' });
      await runSteady();
      clock.sleepMs(ms);
    });

    expect(called()).toEqual(['started', 'detained', 'released']);
  });

  test('requests no invoice that another worker has requested meanwhile', async () => {
    await stores.say('T1', INVOICE);
    await runSleepy(async () => {
      await eventually(async () => {
        await runSteady();
        expect(await stores.states('T1')).toEqual(['started accepted', 'invoice accepted']);
      });
      clock.sleepMs(ms);
    });

    expect(fake.calls).toHaveLength(2);
  });
});

describe('a claim that no other worker has taken', () => {
  const renewals: boolean[] = [];
  const counted = (): TowOutbox => {
    renewals.length = 0;
    const outbox = outboxWith(20_000);
    return { ...outbox, renew: async (claimed) => renewals[renewals.push(await outbox.renew(claimed)) - 1] === true };
  };

  test.each([
    { sleptMs: 0, confirmed: [] },
    { sleptMs: SLEEP_MS, confirmed: [true] },
    { sleptMs: 60_000, confirmed: [] },
  ])(
    'is used once after a sleep of $sleptMs ms, and the lease is confirmed $confirmed',
    async ({ sleptMs, confirmed }) => {
      await stores.say('T1', { event: 'detained' });
      await runSleepy(async () => clock.sleepMs(sleptMs), { outbox: counted() });

      expect(called()).toEqual(['started', 'detained']);
      expect(renewals).toEqual(confirmed);
      expect(await stores.states('T1')).toEqual(['started accepted', 'detained accepted']);
    },
  );

  test('may not go on with an upload once its machine has slept for most of the lease', async () => {
    await stores.say('T1', { event: 'detained' });
    const outbox = outboxWith(20_000);
    const claimed = await mustClaim(outbox, 'T1');
    const tools = await toolsOf({ outbox, clock });
    const upload = holdLease(claimed, startAge(clock), tools).keepRenewed();

    clock.sleepMs(17_000);
    expect(upload.mayGoOn()).toBe(true);
    clock.sleepMs(1000);
    expect(upload.mayGoOn()).toBe(false);
    upload.end();
  });
});
