import type { Redis } from 'ioredis';
import { encodeCircuits } from '../contracts/stored-circuits';
import { CIRCUIT_NAMES, NO_CIRCUITS, type CircuitEffects, type CircuitName, type Circuits } from '../domain/circuits';
import type { WaitingAtCircuit } from '../domain/claim-entry';
import { violationMember, violationOfMember, versionNumber } from '../domain/outbox-record';
import type { Effect, RecordChange } from './commit';
import { taskEffects, taskEvents, taskTexts } from './indexes';
import { blockedKey, KEYS, probesKey } from './keys';
import type { StoreChange } from './record-effects';
import { Script } from './scripts';

/** The circuits in Redis, and what they block. */

const release = new Script('release');
const RELEASE_SLICE = 1000;
/** Released by one call of the script: Redis serves others in between. */
const RELEASED_AT_ONCE = 250;
/** How many of those that a circuit blocks look when it may be tried. */
const LOOKING = 5;
const EVERYWHERE = { towingReferenceId: null } as const;

/** What a decision changed about the circuits, to be part of its commit. */
export interface CircuitsChange {
  readonly records: RecordChange[];
  readonly effects: Effect[];
  readonly events: StoreChange[];
  readonly hasChanged: boolean;
}

export function changeOfCircuits(
  before: Circuits,
  after: Circuits,
  { closed, tag }: { readonly closed: readonly CircuitName[]; readonly tag: string },
): CircuitsChange {
  const json = encodeCircuits(after);
  const key = KEYS.circuits;
  const expected = before.version;
  if (json === encodeCircuits(before)) {
    // What an open circuit blocks must not be blocked any more once it is closed.
    const isOpen = Object.keys(before.open).length > 0;
    return { records: isOpen ? [{ key, expected }] : [], effects: [], events: [], hasChanged: false };
  }
  const { opened, closed: closedTasks } = taskEvents(before.tasks, after.tasks);
  const newlyOpen = CIRCUIT_NAMES.filter((name) => after.open[name] && !before.open[name]);
  const isQuiet = json === encodeCircuits(NO_CIRCUITS);
  const version = `${versionNumber(expected) + 1}.${tag}`;
  return {
    records: [isQuiet ? { key, expected, isGone: true } : { key, expected, version, set: { circuits: json } }],
    effects: [
      ...taskEffects(taskTexts(before.tasks, {}), taskTexts(after.tasks, {})),
      ...newlyOpen.map((name) => ['SREM', KEYS.releasing, name] as const),
      ...closed.map((name) => ['SADD', KEYS.releasing, name] as const),
    ],
    events: [
      ...Array.from({ length: opened }, () => ({ type: 'task.opened', ...EVERYWHERE })),
      ...Array.from({ length: opened }, () => ({ type: 'gate.closed', ...EVERYWHERE })),
      ...Array.from({ length: closedTasks }, () => ({ type: 'task.closed', ...EVERYWHERE })),
      ...closed.map(() => ({ type: 'gate.opened', ...EVERYWHERE })),
    ],
    hasChanged: true,
  };
}

/** What waits for the open circuits. */
export async function waitingAt(
  redis: Redis,
  { open }: Circuits,
): Promise<Partial<Record<CircuitName, WaitingAtCircuit>>> {
  const entries = await Promise.all(
    CIRCUIT_NAMES.filter((name) => open[name]).map(async (name) => {
      const [count, probes] = await Promise.all([redis.scard(blockedKey(name)), redis.srandmember(probesKey(name), 3)]);
      return [name, { count, probes }] as const;
    }),
  );
  return Object.fromEntries(entries);
}

/** Makes due what a change of circuits lets go on. Best effort: the rest looks by itself, or a poller releases it. */
export async function letGoOn(redis: Redis, { closed, looks }: CircuitEffects): Promise<void> {
  try {
    for (const name of closed) await releaseSlice(redis, name);
    for (const { name, atMs } of looks) await letSomeLook(redis, name, atMs);
  } catch {
    // Redis is away; the poller goes on.
  }
}

/** Makes due a slice of what each closed circuit blocked; a poller calls it until nothing is left. */
export async function releaseBlocked(redis: Redis): Promise<void> {
  for (const name of await redis.smembers(KEYS.releasing)) await releaseSlice(redis, name);
}

async function releaseSlice(redis: Redis, name: string): Promise<void> {
  const keys = [blockedKey(name), probesKey(name), KEYS.releasing, KEYS.dueTows, KEYS.dueViolations];
  for (let released = 0; released < RELEASE_SLICE; released += RELEASED_AT_ONCE) {
    const reply = await release.run(redis, keys, [name, RELEASED_AT_ONCE, violationMember('')]);
    if (Number(reply) < RELEASED_AT_ONCE) return;
  }
}

async function letSomeLook(redis: Redis, name: CircuitName, atMs: number): Promise<void> {
  const [probes, others] = await Promise.all([
    redis.srandmember(probesKey(name), LOOKING),
    redis.srandmember(blockedKey(name), LOOKING),
  ]);
  await Promise.all(
    [...new Set([...probes, ...others])].map((member) => {
      const violationId = violationOfMember(member);
      return violationId === null
        ? redis.zadd(KEYS.dueTows, 'LT', atMs, member)
        : redis.zadd(KEYS.dueViolations, 'LT', atMs, violationId);
    }),
  );
}
