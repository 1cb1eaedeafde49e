import type { CircuitName } from '../../src/domain/vocabulary';
import { decodeCircuits, encodeCircuits, type Circuit, type Circuits } from '../../src/domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import { storedLease } from '../../src/domain/outbox/outbox-record';
import { towMeta } from '../../src/domain/tow/tow';
import { decodeEntries } from '../../src/store/outbox/entry-fields';
import type { Entry } from '../../src/domain/outbox/entry';
import { headOf } from '../../src/domain/outbox/outbox';
import { KEYS, towKey, unsentTowsKey, violationKey } from '../../src/store/keys';
import { packFields, unpackFields } from '../../src/store/redis/packed-fields';
import { entryParts } from '../../src/store/outbox/record-parts';
import { recordsOf } from '../../src/store/outbox/records';
import { decodeTow } from '../../src/store/tow/tow-fields';

/** Changes to stored records that tests make by hand, to move a timestamp or to damage a field. */

export async function readCircuits(redis: Redis): Promise<Circuits> {
  const [version = null, json = null] = await redis.hmget(KEYS.circuits, 'v', 'circuits');
  return decodeCircuits(version, json);
}

/** Opens a circuit, or changes an open one. */
export async function setCircuit(redis: Redis, name: CircuitName, change: Partial<Circuit>): Promise<void> {
  const { open } = await readCircuits(redis);
  const before = open[name] ?? { untilMs: 1, sinceMs: 1, failures: 0, lastProbe: null, safeOnly: false };
  await changeCircuits(redis, { open: { ...open, [name]: { ...before, ...change } } });
}

/** Changes what is stored about all circuits. */
export async function changeCircuits(redis: Redis, change: Partial<Circuits>): Promise<void> {
  const after = { ...(await readCircuits(redis)), ...change };
  await redis.hset(KEYS.circuits, 'v', `${Date.now()}.test`, 'circuits', encodeCircuits(after));
  recordsOf(redis).forgetCircuits();
}

/** Lets the next call try an open circuit. */
export function letTry(redis: Redis, name: CircuitName): Promise<void> {
  return setCircuit(redis, name, { untilMs: Date.now() - 1000 });
}

/** Changes an entry of a tow or violation. */
export async function changeEntry(
  redis: Redis,
  of: { ref: string } | { violationId: string },
  seq: number,
  change: Partial<Entry>,
): Promise<void> {
  const key = 'ref' in of ? towKey(of.ref) : violationKey(of.violationId);
  const stored = await redis.hgetall(key);
  const { v: _v, state: _state, attempt: _attempt, ...fields } = unpackFields(stored);
  const entries = decodeEntries(unpackFields(stored));
  if (!entries.some((entry) => entry.seq === seq)) throw new Error(`no entry ${seq} in ${key}`);
  const parts = entryParts(entries.map((entry) => (entry.seq === seq ? { ...entry, ...change } : entry)));
  const changed = Object.fromEntries(parts.map(({ name, text }) => [name, text()]));
  const set = stored['z'] === undefined ? changed : packFields({ ...fields, ...changed });
  await redis.hset(key, { ...set, v: await nextVersion(redis, key) });
  if (!('attempt' in changed)) await redis.hdel(key, 'attempt');
  if (!('ref' in of) || change.createdAtMs === undefined) return;
  if (headOf(decodeTow(of.ref, await redis.hgetall(key)).entries)?.seq === seq)
    await redis.zadd(unsentTowsKey, change.createdAtMs, of.ref);
}

/** Changes the constant part of a tow. */
export async function changeMeta(
  redis: Redis,
  ref: string,
  change: { requestedAtMs?: number; requestedAt?: string },
): Promise<void> {
  const json = (await redis.hget(towKey(ref), 'meta')) ?? '';
  const meta = JSON.stringify({ ...towMeta.parse(JSON.parse(json)), ...change });
  await redis.hset(towKey(ref), 'v', await nextVersion(redis, towKey(ref)), 'meta', meta);
}

/** An entry of a tow or a violation as it is stored. */
export async function readEntry(
  redis: Redis,
  of: { ref: string } | { violationId: string },
  seq: number,
): Promise<Entry> {
  const key = 'ref' in of ? towKey(of.ref) : violationKey(of.violationId);
  const entry = decodeEntries(unpackFields(await redis.hgetall(key))).find((one) => one.seq === seq);
  if (!entry) throw new Error(`no entry ${seq} in ${key}`);
  return entry;
}

/** The end of a record's lease; 0 without a lease. */
export async function leaseUntilMs(redis: Redis, key: string): Promise<number> {
  const json = await redis.hget(key, 'lease');
  return json === null ? 0 : storedLease.parse(JSON.parse(json)).untilMs;
}

/** Lets the lease of a record expire. */
export async function endLease(redis: Redis, key: string): Promise<void> {
  const json = await redis.hget(key, 'lease');
  if (json === null) return;
  const lease = JSON.stringify({ ...storedLease.parse(JSON.parse(json)), untilMs: 1 });
  await redis.hset(key, 'v', await nextVersion(redis, key), 'lease', lease);
}

async function nextVersion(redis: Redis, key: string): Promise<string> {
  return `${Number.parseInt((await redis.hget(key, 'v')) ?? '0', 10) + 1}.test`;
}

/** The characters of a stored tow, without some fields. */
export async function storedLength(redis: Redis, ref: string, { without }: { without: string[] }): Promise<number> {
  const fields = Object.entries(await redis.hgetall(towKey(ref))).filter(([name]) => !without.includes(name));
  return fields.reduce((sum, [name, value]) => sum + (name === 'v' ? 0 : name.length + value.length), 0);
}

/** Restores a record to its current state later, as a failover to a lagging replica does. */
export async function copyRecord(redis: Redis, key: string): Promise<() => Promise<void>> {
  const fields = await redis.hgetall(key);
  return async () => {
    await redis.multi().del(key).hset(key, fields).exec();
  };
}
