import { CIRCUIT_NAMES } from '../../src/domain/vocabulary';
import type { Redis } from 'ioredis';
import type { Entry } from '../../src/domain/outbox/entry';
import { headOf } from '../../src/domain/outbox/outbox';
import { recordIdOf, type OutboxRecord } from '../../src/domain/outbox/outbox-record';
import { dueAtMs } from '../../src/domain/outbox/outbox-schedule';
import {
  blockedKey,
  budgetStateField,
  deliveryKey,
  KEYS,
  lookupLockKey,
  towKey,
  violationKey,
} from '../../src/store/keys';
import { keyOf, RECORD_KEYS } from '../../src/store/outbox/record-kinds';
import { decodeTow } from '../../src/store/tow/tow-fields';
import { decodeViolation } from '../../src/store/violation/violation-fields';
import { redisNowMs } from '../support/redis';
import { endLease, readCircuits } from '../support/stored-records';

/** What runs leave in Redis, read below the ports of the product. */

const VIOLATION_STATES = ['pending', 'held', 'sending', 'unknown', 'refused', 'accepted', 'waived'];
/** Work that is due later than this waits for something that no scenario brings, such as a tow request. */
const FAR_AHEAD_MS = 90_000;

/** All tows and violations. */
export async function readRecords(redis: Redis): Promise<OutboxRecord[]> {
  const refs = await redis.zrange(KEYS.indexTows, '0', '-1');
  const ids = await Promise.all(
    VIOLATION_STATES.map((state) => redis.zrange(`${KEYS.indexViolations}:${state}`, '0', '-1')),
  );
  const tows = await Promise.all(refs.map(async (ref) => decodeTow(ref, await redis.hgetall(towKey(ref)))));
  const violations = await Promise.all(
    ids.flat().map(async (id) => decodeViolation(await redis.hgetall(violationKey(id)))),
  );
  return [...tows, ...violations.filter((violation) => violation !== null)];
}

function placesOf(record: OutboxRecord) {
  const { due, permitQueue: line, permits: budget } = RECORD_KEYS[record.kind];
  return { member: recordIdOf(record), key: keyOf(record), due, line, budget };
}

const nameOf = (record: OutboxRecord, entry: Entry) => `${recordIdOf(record)} ${entry.kind}-${entry.seq}`;

/** The entries that have an attempt under way. */
export async function entriesInFlight(redis: Redis): Promise<string[]> {
  return (await readRecords(redis)).flatMap((record) =>
    record.entries.filter(({ attemptId }) => attemptId !== null).map((entry) => nameOf(record, entry)),
  );
}

/** The entries of which an attempt was lost with its worker. */
export function entriesWithLostAttempts(records: readonly OutboxRecord[]): string[] {
  return records.flatMap((record) =>
    record.entries
      .filter(({ log }) => log.some(({ outcome }) => outcome === 'worker_lost'))
      .map((entry) => nameOf(record, entry)),
  );
}

/** When the next work is due, Redis time in ms; null when none is due soon. */
export async function nextDueMs(redis: Redis): Promise<{ nowMs: number; dueMs: number | null }> {
  const [nowMs, ...firsts] = await Promise.all([
    redisNowMs(redis),
    ...SCHEDULES.map((key) => redis.zrange(key, '0', '0', 'WITHSCORES')),
  ]);
  const soon = firsts.flatMap(([, score]) => (score === undefined ? [] : [Number(score)]));
  const dueMs = Math.min(...soon);
  return { nowMs, dueMs: dueMs < nowMs + FAR_AHEAD_MS ? dueMs : null };
}

const SCHEDULES = [KEYS.dueDeliveries, KEYS.dueTows, KEYS.dueViolations, KEYS.dueRuns];

/** Makes everything due that is scheduled soon, as some seconds later: the locks of a lost worker expire before its leases. */
export async function makeAllDue(redis: Redis): Promise<void> {
  const untilMs = (await redisNowMs(redis)) + FAR_AHEAD_MS;
  for (const due of SCHEDULES) {
    for (const member of await redis.zrangebyscore(due, 0, untilMs)) await redis.zadd(due, 'XX', 1, member);
  }
  await expireLocks(redis);
}

/** Ends the rights to renew the token and to ask the service; returns how many there were. */
async function expireLocks(redis: Redis): Promise<number> {
  return redis.del(KEYS.tokenLock, ...(await redis.keys(lookupLockKey('*'))));
}

export interface PassedTime {
  /** Whether anything was waited for that only time brings. */
  readonly hasPassed: boolean;
  /** The records whose lease ended. */
  readonly leasesEnded: readonly string[];
}

/**
 * Lets the time pass after which others continue the work of a worker that was lost: leases end, locks expire, what was
 * taken from a schedule is due again, and permits are granted again.
 */
export async function passTime(redis: Redis, nowMs: number): Promise<PassedTime> {
  const leasesEnded: string[] = [];
  let passed = 0;
  for (const record of await readRecords(redis)) {
    const { member, key, due, line, budget } = placesOf(record);
    const isWaitingForPermit = (await redis.zscore(line, member)) !== null;
    if (isWaitingForPermit) {
      await redis.del(budget);
      await redis.hdel(KEYS.circuits, budgetStateField(RECORD_KEYS[record.kind].budget));
    }
    if (record.lease) {
      leasesEnded.push(member);
      await endLease(redis, key);
    }
    // A record that is due and not scheduled now was taken from the schedule by a worker that did not claim it.
    const isTaken = (dueAtMs(record, nowMs) ?? Infinity) <= nowMs;
    if (record.lease || isWaitingForPermit || isTaken) passed += await redis.zadd(due, 'XX', 'CH', nowMs, member);
  }
  for (const due of [KEYS.dueDeliveries, KEYS.dueRuns]) {
    for (const member of await redis.zrangebyscore(due, nowMs, nowMs + FAR_AHEAD_MS)) {
      passed += await redis.zadd(due, 'XX', 'CH', nowMs, member);
    }
  }
  passed += await expireLocks(redis);
  return { hasPassed: passed > 0, leasesEnded };
}

/** A worker that goes on after a freeze may leave this; schedulers find it. */
export const WAITS_WITHOUT_CALL = 'waits for a permit without a call';

/** What must not be left of a run: rights without a holder, and schedules without work. */
export async function leftovers(redis: Redis): Promise<string[]> {
  const nowMs = await redisNowMs(redis);
  const circuits = await readCircuits(redis);
  const blocked = await Promise.all(CIRCUIT_NAMES.map((name) => redis.smembers(blockedKey(name))));
  const deliveries = await redis.zrange(KEYS.dueDeliveries, '0', '-1');
  const states = await Promise.all(deliveries.map((id) => redis.hget(deliveryKey(id), 'state')));
  const records = await readRecords(redis);
  return [
    ...(await Promise.all(records.map((record) => leftoversOf(redis, record, nowMs)))).flat(),
    ...deliveries.filter((_id, at) => states[at] !== 'parked').map((id) => `the delivery ${id} is scheduled`),
    ...(await redis.zrange(KEYS.dueRuns, '0', '-1')).map((id) => `the run ${id} is scheduled`),
    ...Object.keys(circuits.open).map((name) => `the circuit ${name} is open`),
    ...blocked.flat().map((member) => `${member} is blocked`),
  ];
}

async function leftoversOf(redis: Redis, record: OutboxRecord, nowMs: number): Promise<string[]> {
  const { member, due, line } = placesOf(record);
  const isDue = dueAtMs(record, nowMs) !== null;
  const isScheduled = (await redis.zscore(due, member)) !== null;
  const isWaitingForPermit = (await redis.zscore(line, member)) !== null;
  const inFlight = record.entries.filter(({ attemptId }) => attemptId !== null);
  return [
    ...(record.lease ? [`${member} is leased`] : []),
    ...inFlight.map((entry) => `${nameOf(record, entry)} is in flight`),
    ...(isDue && !isScheduled ? [`${member} is due and not scheduled`] : []),
    ...(isScheduled && !isDue ? [`${member} is scheduled without work`] : []),
    ...(isWaitingForPermit && !headOf(record.entries) ? [`${member} ${WAITS_WITHOUT_CALL}`] : []),
  ];
}
