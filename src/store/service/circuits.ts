import { CIRCUIT_NAMES, type CircuitName } from '../../domain/vocabulary';
import {
  decodeCircuits,
  encodeCircuits,
  areQuiet,
  NO_CIRCUITS,
  type Circuit,
  type Circuits,
} from '../../domain/service/stored-circuits';
import type { Redis } from 'ioredis';
import { decodeBudgetState, type StoredBudgetState } from '../../contracts/service/stored-budgets';
import { isStopped, type CircuitEffects } from '../../domain/service/circuits';
import type { WaitingAtCircuit } from '../../domain/outbox/claim-entry';
import { MEMBER_PREFIXES, nextVersion, type RecordKind } from '../../domain/outbox/outbox-record';
import type { Log } from '../../platform/log/log';
import type { Check, Effect, RecordChange } from '../redis/commit';
import { general, type NewChange } from '../../domain/ops/changes';
import { taskChanges } from '../../domain/outbox/record-changes';
import { blockedKey, budgetStateField, KEYS, probesKey } from '../keys';
import { scheduleOf } from '../outbox/record-kinds';
import { Script } from '../scripts';
import { taskEffects, taskTexts } from '../ops/task-effects';

/** The circuits in Redis, and the records that they block. */

const release = new Script('release');
/** Blocked members that are released in a row. A scheduler releases the rest. */
const BLOCKED_IN_A_ROW = 1000;
/** Members that one call of the script releases, so that Redis can serve other clients in between. */
const RELEASED_PER_CALL = 250;
/** Waiters that become due per half-open probe. All of them would be a thundering herd, as only one may probe. */
const WOKEN_PER_PROBE = 5;

/** The circuits, and what the service says about the rate limits of tows and violations. */
export interface ReadCircuits {
  readonly known: Circuits;
  readonly budgets: Readonly<Record<RecordKind, StoredBudgetState>>;
}

const BUDGET_STATE_FIELDS = [budgetStateField('tow'), budgetStateField('violations')];

/** Reads circuits and budget states in one command. */
export async function readCircuits(redis: Redis): Promise<ReadCircuits> {
  const fields = await redis.hmget(KEYS.circuits, 'v', 'circuits', ...BUDGET_STATE_FIELDS);
  const [version = null, json = null, tow, violation] = fields;
  const budgets = { tow: decodeBudgetState(tow), violation: decodeBudgetState(violation) };
  return { known: decodeCircuits(version, json), budgets };
}

const STOPPED_FIELD = 'stopped';

/**
 * Holds while calls are made. A commit that grants the right to call checks it: processes keep circuits for a while, and
 * one that has not seen yet that sending was stopped is granted nothing.
 */
export const SENDING: Check = { key: KEYS.circuits, field: STOPPED_FIELD, value: '' };

/** The part of a commit that changes the circuits. */
export interface CircuitsChange {
  readonly records: RecordChange[];
  readonly effects: Effect[];
  readonly changed: NewChange[];
  readonly hasChanged: boolean;
  readonly turned: readonly TurnedCircuit[];
}

/** A circuit that a change opens or closes, as it is or was while open. */
export interface TurnedCircuit {
  readonly name: CircuitName;
  readonly circuit: Circuit;
  readonly isOpen: boolean;
}

const STOP = ['HSET', KEYS.circuits, STOPPED_FIELD, '1'] as const;
const RESUME = ['HDEL', KEYS.circuits, STOPPED_FIELD] as const;

/**
 * The part of a commit that replaces the stored circuits `before` by `after`. `closed`: the circuits of which members
 * become due. Without a change the version is checked only, and only while a circuit is open.
 */
export function changeOfCircuits(
  before: Circuits,
  after: Circuits,
  { closed, newId }: { readonly closed: readonly CircuitName[]; readonly newId: () => string },
): CircuitsChange {
  const unchanged = { effects: [], changed: [], hasChanged: false, turned: [] };
  if (areQuiet(before) && areQuiet(after)) return { records: [], ...unchanged };
  const json = encodeCircuits(after);
  const key = KEYS.circuits;
  const expected = before.version;
  if (json === encodeCircuits(before)) {
    // The version is checked, so that no record is stored as blocked by a circuit that was closed meanwhile.
    const isOpen = Object.keys(before.open).length > 0;
    return { records: isOpen ? [{ key, expected }] : [], ...unchanged };
  }
  const turned = turnedCircuits(before, after);
  const newlyOpen = turned.filter(({ isOpen }) => isOpen).map(({ name }) => name);
  const isQuiet = json === encodeCircuits(NO_CIRCUITS);
  const version = nextVersion(expected, newId());
  const stopped = isStopped(after);
  return {
    records: [isQuiet ? { key, expected } : { key, expected, version, set: { circuits: json } }],
    effects: [
      // The budget states in the same hash stay.
      ...(isQuiet ? [['HDEL', key, 'v', 'circuits'] as const] : []),
      ...(stopped === isStopped(before) ? [] : [stopped ? STOP : RESUME]),
      ...taskEffects(taskTexts(before.tasks, {}), taskTexts(after.tasks, {})),
      ...newlyOpen.map((name) => ['SREM', KEYS.releasing, name] as const),
      ...closed.map((name) => ['SADD', KEYS.releasing, name] as const),
    ],
    changed: [
      ...taskChanges(before.tasks, after.tasks).map(({ type, data }) => general(type, data)),
      ...turned.map(({ name, isOpen }) => general(isOpen ? 'circuit.opened' : 'circuit.closed', { circuit: name })),
    ],
    hasChanged: true,
    turned,
  };
}

function turnedCircuits(before: Circuits, after: Circuits): TurnedCircuit[] {
  return CIRCUIT_NAMES.flatMap((name): TurnedCircuit[] => {
    const [was, is] = [before.open[name], after.open[name]];
    if (is) return was ? [] : [{ name, circuit: is, isOpen: true }];
    return was ? [{ name, circuit: was, isOpen: false }] : [];
  });
}

/** Writes a line for each circuit that a commit has opened or closed. */
export function logTurned(log: Log, turned: readonly TurnedCircuit[], nowMs: number): void {
  for (const { name, circuit, isOpen } of turned) {
    const facts = { circuit: name, cause: circuit.cause ?? null };
    if (isOpen) log.warn('circuit.opened', facts);
    else log.info('circuit.closed', { ...facts, duration_ms: nowMs - circuit.sinceMs });
  }
}

/** The number of members that each open circuit blocks, and some that may probe it. */
export async function waitingAt(
  redis: Redis,
  { open }: Circuits,
): Promise<Partial<Record<CircuitName, WaitingAtCircuit>>> {
  const names = CIRCUIT_NAMES.filter((name) => open[name]);
  if (names.length === 0) return {};
  const entries = await Promise.all(
    names.map(async (name) => {
      const [count, probes] = await Promise.all([redis.scard(blockedKey(name)), redis.srandmember(probesKey(name), 3)]);
      return [name, { count, probes }] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/**
 * Makes members due that a change of circuits releases or lets probe. Best effort: the schedulers release the rest, and
 * blocked members become due by themselves later.
 */
export async function releaseClosed(redis: Redis, { closed, probeTimes }: CircuitEffects): Promise<void> {
  try {
    for (const name of closed) await releaseSlice(redis, name);
    for (const { name, atMs } of probeTimes) await wakeForProbe(redis, name, atMs);
  } catch {
    // Redis cannot be reached. A scheduler continues.
  }
}

/** Makes some of the members due that closed circuits have blocked. A scheduler calls it until none is left. */
export async function releaseClosedCircuits(redis: Redis): Promise<void> {
  for (const name of await redis.smembers(KEYS.releasing)) await releaseSlice(redis, name);
}

/** Makes some of the members due that a closed circuit has blocked. */
async function releaseSlice(redis: Redis, name: string): Promise<void> {
  const keys = [blockedKey(name), probesKey(name), KEYS.releasing, KEYS.dueTows, KEYS.dueViolations];
  for (let released = 0; released < BLOCKED_IN_A_ROW; released += RELEASED_PER_CALL) {
    const reply = await release.run(redis, keys, [
      name,
      RELEASED_PER_CALL,
      MEMBER_PREFIXES.violation,
      MEMBER_PREFIXES.tow,
    ]);
    if (Number(reply) < RELEASED_PER_CALL) return;
  }
}

async function wakeForProbe(redis: Redis, name: CircuitName, atMs: number): Promise<void> {
  const [probes, others] = await Promise.all([
    redis.srandmember(probesKey(name), WOKEN_PER_PROBE),
    redis.srandmember(blockedKey(name), WOKEN_PER_PROBE),
  ]);
  await Promise.all(
    [...new Set([...probes, ...others])].map((member) => {
      const [schedule, id] = scheduleOf(member);
      return redis.zadd(schedule, 'LT', atMs, id);
    }),
  );
}
