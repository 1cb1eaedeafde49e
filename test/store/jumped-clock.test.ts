import { systemClock, type Clock } from '../../src/platform/clock';
import { KEYS, towKey, violationKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { recordsOf } from '../../src/store/outbox/records';
import { walk } from '../support/conservation';
import { NO_LIMITS } from '../support/outboxes';
import { openConnection } from '../support/redis';
import { changeEntry, leaseUntilMs, readCircuits, setCircuit } from '../support/stored-records';
import { GRACE_MS, mustClaim, openStores, START, useStores } from '../support/stores';
import { mustClaimViolation, openOutbox, reportViolations } from '../support/violations';

/** A clock that jumps ahead for a moment leaves leases, schedules and permits there. */

const stores = useStores();
const redis = stores.server;

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 86_400_000;

/** Leases a record until a year from now, and schedules it for then. */
async function leaseForYear(key: string, due: { key: string; member: string }): Promise<void> {
  const untilMs = Date.now() + YEAR_MS;
  await stores.redis.hset(key, 'v', '99.test', 'lease', JSON.stringify({ token: 'lost', untilMs }));
  await stores.redis.zadd(due.key, untilMs, due.member);
}

test('a lease that a clock has put a year ahead does not stop a tow', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await leaseForYear(towKey('T1'), { key: KEYS.dueTows, member: 'T1' });

  expect((await mustClaim(stores.outbox, 'T1')).entry.kind).toBe('started');

  expect(await leaseUntilMs(stores.redis, towKey('T1'))).toBeLessThan(Date.now() + 60_000);
});

test('a process stops sending when a circuit opens after the clock of Redis was set back by an hour', async () => {
  const other = await openStores(redis.url);
  await stores.request('T1');
  await stores.say('T1', START);
  const readClock = jest.spyOn(stores.records, 'nowMs').mockResolvedValue(Date.now() + HOUR_MS);
  await stores.outbox.claim('another tow');
  readClock.mockRestore();

  await setCircuit(other.redis, 'paused.started', { untilMs: Date.now() + HOUR_MS });

  expect((await stores.outbox.claim('T1')).kind).toBe('wait');
  other.close();
});

test('a scan brings a tow back to the schedule that is leased and scheduled for a year ahead', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await leaseForYear(towKey('T1'), { key: KEYS.dueTows, member: 'T1' });

  await walk(stores.redis);

  expect(await stores.schedules.reports.pollDue(10, 1000)).toEqual(['T1']);
  expect((await stores.outbox.claim('T1')).kind).toBe('send');
});

test('a scan brings a violation back to the schedule that is leased and scheduled for a year ahead', async () => {
  await reportViolations(stores, 'U1');
  await leaseForYear(violationKey('U1'), { key: KEYS.dueViolations, member: 'U1' });

  await walk(stores.redis);

  expect(await stores.schedules.violations.pollDue(10, 1000)).toEqual(['U1']);
  await mustClaimViolation(openOutbox(stores), 'U1');
});

test.each(['outage', 'connection', 'paused.started'] as const)(
  'a call probes the circuit %s that a clock has opened until tomorrow',
  async (name) => {
    await stores.request('T1');
    await stores.say('T1', START);
    await setCircuit(stores.redis, name, { untilMs: Date.now() + 24 * HOUR_MS });

    expect((await stores.outbox.claim('T1')).kind).toBe('send');

    expect((await readCircuits(stores.redis)).open[name]?.untilMs).toBeLessThan(Date.now() + HOUR_MS);
  },
);

test('a worker whose clock lags behind that of Redis claims a tow for itself alone', async () => {
  await stores.request('T1');
  await stores.say('T1', START);
  await stores.say('T1', { event: 'detained' });
  const minutesAgo = Date.now() - 300_000;
  for (const seq of [1, 2]) {
    await changeEntry(stores.redis, { ref: 'T1' }, seq, { createdAtMs: minutesAgo, nextAtMs: minutesAgo });
  }
  // The monotonic clock of Linux stops while the machine is suspended.
  let suspendedMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() - suspendedMs };
  const connection = await openConnection(redis.url);
  try {
    recordsOf(connection, clock);
    const settings = { leaseMs: 20_000, graceMs: GRACE_MS, ...NO_LIMITS };
    const suspended = createTowOutbox(connection, clock, settings);
    // It learns the time of Redis.
    await suspended.claim('T2');
    suspendedMs = 60_000;

    expect((await suspended.claim('T1')).kind).toBe('send');

    expect((await createTowOutbox(stores.redis, systemClock, settings).claim('T1')).kind).toBe('busy');
  } finally {
    connection.disconnect();
  }
});
