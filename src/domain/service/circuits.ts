import { WAIT_MAX_MS } from '../outbox/backoff';
import { STOPPED, type CircuitName, type EntryKind } from '../vocabulary';
import type { NewTask } from '../ops/tasks';
import type { Circuit, Circuits } from './stored-circuits';
import { HOUR_MS, MINUTE_MS } from '../timestamp';

/**
 * Circuit breakers, shared by all processes: `connection` (no token, a wrong address, or something answers in place
 * of the service), `outage` (call after call fails) and one per paused operation (403). An open circuit blocks calls
 * until a given time. Then one call probes it, and an answer closes it. The circuit STOPPED has no probe: while it
 * is open nothing is sent, and no commit grants a lease (store/outbox/claims.ts).
 *
 * The rules are pure: they change the circuits they receive and record the consequences in `CircuitEffects`.
 */

/** Consequences of a circuit change, besides the change itself. */
export interface CircuitEffects {
  /** Closed circuits: everything they block is due. */
  readonly closed: CircuitName[];
  /** Circuits that may be probed from a time on: some of the records they block are due then. */
  readonly probeTimes: { name: CircuitName; atMs: number }[];
  readonly due: string[];
}

/** Empty lists, to which each change of the circuits adds. */
export function noEffects(): CircuitEffects {
  return { closed: [], probeTimes: [], due: [] };
}

/**
 * Failures in a row that say something about the service now. Once the last one is old, what failed is no longer sent:
 * it was waived, for example, and no answer ends the row. While an outage lasts, its probes may be further apart.
 */
export function recentFailures({ open, failures, lastFailureMs }: Circuits, nowMs: number): number {
  if (open.outage) return failures;
  return lastFailureMs !== undefined && Math.abs(nowMs - lastFailureMs) <= FAILURES_RECENT_MS ? failures : 0;
}

const OUTAGE_FAILURES = 5;
const OUTAGE_MEMBERS = 3;
/** Longer than the usual waits between two attempts. */
const FAILURES_RECENT_MS = 15 * MINUTE_MS;
const PAUSE_MEMBERS = 3;
const PAUSE_PROBE_MS = 300_000;
/** The longest time between two probes. For `connection` it is five minutes, including the turn of another tow. */
const OPEN_MAX_MS = HOUR_MS;
const CONNECTION_OPEN_MAX_MS = 290_000;

/** After this, a blocked record runs again by itself, in case nothing makes it due. */
export const RECHECK_MS = 600_000;

/** Opens the circuit that lets nothing out, unless it is open already. */
export function stopSending(circuits: Circuits, nowMs: number, { bySwitch = false } = {}): void {
  const circuit = openCircuit(circuits, STOPPED, { task: null, cause: 'sending_stopped' }, nowMs);
  if (bySwitch) circuit.bySwitch = true;
}

/** Closes it: what it blocks and is not held becomes due. */
export function resumeSending(circuits: Circuits, effects: CircuitEffects): void {
  closeCircuit(circuits, STOPPED, effects);
}

/** Since when nothing is sent, ms since the epoch; null while calls are made. */
export function stoppedSinceMs({ open }: Circuits): number | null {
  return open[STOPPED]?.sinceMs ?? null;
}

/** True while the switch of ops is off, also without a process that sends nothing. */
export function isStoppedBySwitch({ open }: Circuits): boolean {
  return open[STOPPED]?.bySwitch === true;
}

export function isStopped(circuits: Circuits): boolean {
  return stoppedSinceMs(circuits) !== null;
}

/** The circuits that a call of this kind must pass, in the order of their checks; one that is due is probed by the call. */
export function circuitsOf(kind: EntryKind): readonly CircuitName[] {
  return ['connection', 'outage', `paused.${kind}`];
}

/** Returns the circuit that blocks a call of this kind now, or null. */
export function blocking(
  circuits: Circuits,
  kind: EntryKind,
  nowMs: number,
): { name: CircuitName; untilMs: number } | null {
  if (isStopped(circuits)) return { name: STOPPED, untilMs: nowMs + RECHECK_MS };
  for (const name of circuitsOf(kind)) {
    const circuit = circuits.open[name];
    if (circuit && circuit.untilMs > nowMs && circuit.untilMs <= nowMs + WAIT_MAX_MS) {
      return { name, untilMs: circuit.untilMs };
    }
  }
  return null;
}

/** Returns the circuit that only calls that are safe to repeat may probe, or null. */
export function circuitForSafeProbes({ open }: Circuits): 'outage' | 'connection' | null {
  if (open.outage) return 'outage';
  return open.connection?.safeOnly ? 'connection' : null;
}

/**
 * Starts a probe of an open circuit. If its worker dies, other calls may probe after the lease; those of a paused
 * operation after PAUSE_PROBE_MS.
 */
export function beginProbe(
  circuits: Circuits,
  name: CircuitName,
  by: string,
  at: { nowMs: number; leaseMs: number },
  effects: CircuitEffects,
): void {
  const circuit = circuits.open[name];
  if (!circuit) return;
  blockFor(circuits, name, name.startsWith('paused.') ? PAUSE_PROBE_MS : at.leaseMs, at.nowMs, effects);
  circuit.lastProbe = by;
}

/** Records that the service answered. Any answer, however late, shows the state of the service as a whole. */
export function applyAnswer(
  circuits: Circuits,
  answer: { kind: EntryKind; wasAnswered: boolean; isAlive: boolean; isForbidden: boolean },
  effects: CircuitEffects,
): void {
  if (answer.wasAnswered) closeCircuit(circuits, 'connection', effects);
  if (!answer.isAlive) return;
  endOutage(circuits, effects);
  if (!answer.isForbidden) endPause(circuits, answer.kind, effects);
}

/** Ends the pause of an operation. Returns false when it was not paused. */
export function endPause(circuits: Circuits, kind: EntryKind, effects: CircuitEffects): boolean {
  delete circuits.forbidden[kind];
  return closeCircuit(circuits, `paused.${kind}`, effects);
}

/** Why a circuit opens: its task, if it has one, and a code for logs. */
interface OpeningReason {
  readonly task: NewTask | null;
  readonly cause: string;
}

export interface ConnectionLoss extends OpeningReason {
  readonly delayMs: number;
  /** Consecutive failures including this one, as the caller knew them: calls that fail together count once. */
  readonly failures: number;
  readonly isSafeOnly: boolean;
}

/** Opens the connection circuit. An answer that is not from the service does not end an outage. */
export function loseConnection(circuits: Circuits, lost: ConnectionLoss, nowMs: number, effects: CircuitEffects): void {
  if (!lost.isSafeOnly) endOutage(circuits, effects);
  else if (circuits.open.outage) blockFor(circuits, 'outage', lost.delayMs, nowMs, effects);
  const circuit = openCircuit(circuits, 'connection', lost, nowMs);
  circuit.safeOnly ||= lost.isSafeOnly;
  circuit.failures = Math.max(circuit.failures, lost.failures);
  blockFor(circuits, 'connection', lost.delayMs, nowMs, effects);
}

/** Counts a failed call of a member. Enough failures in a row open the outage circuit; a failed probe extends it. */
export function countFailure(
  circuits: Circuits,
  failed: OpeningReason & { member: string; delayMs: number },
  nowMs: number,
  effects: CircuitEffects,
): void {
  const { connection, outage } = circuits.open;
  if (connection) {
    if (connection.lastProbe !== failed.member) return;
    // A probe that did not reach the service proves nothing. It is repeated with a growing delay.
    connection.failures += 1;
    blockFor(circuits, 'connection', failed.delayMs * 2 ** Math.min(connection.failures, 8), nowMs, effects);
    return;
  }
  // Calls that were in flight when the outage began prove nothing new.
  if (outage && outage.lastProbe !== failed.member) return;
  circuits.failures += 1;
  circuits.lastFailureMs = nowMs;
  addMember(circuits.failedMembers, failed.member, OUTAGE_MEMBERS);
  if (outage) {
    outage.failures += 1;
    blockFor(circuits, 'outage', failed.delayMs, nowMs, effects);
  } else if (circuits.failures >= OUTAGE_FAILURES && circuits.failedMembers.length >= OUTAGE_MEMBERS) {
    openCircuit(circuits, 'outage', failed, nowMs);
    blockFor(circuits, 'outage', failed.delayMs, nowMs, effects);
  }
}

/** Counts a 403 for this member. Returns true when the operation is paused now. */
export function countForbidden(
  circuits: Circuits,
  forbidden: { kind: EntryKind; member: string; task: NewTask },
  nowMs: number,
  effects: CircuitEffects,
): boolean {
  const name = `paused.${forbidden.kind}` as const;
  const members = (circuits.forbidden[forbidden.kind] ??= []);
  addMember(members, forbidden.member, PAUSE_MEMBERS);
  if (!circuits.open[name]) {
    if (members.length < PAUSE_MEMBERS) return false;
    openCircuit(circuits, name, { task: forbidden.task, cause: 'http_403' }, nowMs);
    // The entries refused before the pause now wait like all others.
    effects.due.push(...members);
  }
  blockFor(circuits, name, PAUSE_PROBE_MS, nowMs, effects);
  return true;
}

/** Records the result of a token call made as a probe: the outage ended, or it lasts. */
export function applyProbe(
  circuits: Circuits,
  probe: { isAlive: boolean; delayMs: number },
  nowMs: number,
  effects: CircuitEffects,
): void {
  const { outage, connection } = circuits.open;
  const isReplaced = connection?.safeOnly === true;
  if (probe.isAlive) {
    endOutage(circuits, effects);
    if (!isReplaced) return;
    // The token call may reach the service where other calls do not, so one call of any kind probes next.
    connection.safeOnly = false;
    blockFor(circuits, 'connection', 0, nowMs, effects);
    return;
  }
  if (outage) {
    outage.failures += 1;
    blockFor(circuits, 'outage', probe.delayMs, nowMs, effects);
  }
  if (isReplaced) {
    connection.failures += 1;
    blockFor(circuits, 'connection', probe.delayMs, nowMs, effects);
  }
}

function endOutage(circuits: Circuits, effects: CircuitEffects): void {
  circuits.failures = 0;
  delete circuits.lastFailureMs;
  circuits.failedMembers = [];
  closeCircuit(circuits, 'outage', effects);
}

/** Opens a circuit, unless it is open, and its task. */
export function openCircuit(
  circuits: Circuits,
  name: CircuitName,
  { task: opened, cause }: OpeningReason,
  nowMs: number,
): Circuit {
  if (opened) {
    const { subject, ...task } = opened;
    circuits.tasks[subject] ??= { task, openedAtMs: nowMs };
  }
  const closed = { untilMs: nowMs, sinceMs: nowMs, failures: 0, lastProbe: null, safeOnly: false };
  return (circuits.open[name] ??= { ...closed, cause });
}

/** Closes a circuit and its task, whose subject is the name of the circuit. Returns true when it was open. */
export function closeCircuit(circuits: Circuits, name: CircuitName, effects: CircuitEffects): boolean {
  if (!circuits.open[name]) return false;
  delete circuits.open[name];
  delete circuits.tasks[name];
  effects.closed.push(name);
  return true;
}

function blockFor(
  circuits: Circuits,
  name: CircuitName,
  delayMs: number,
  nowMs: number,
  effects: CircuitEffects,
): void {
  const circuit = circuits.open[name];
  if (!circuit) return;
  circuit.untilMs = nowMs + Math.min(delayMs, name === 'connection' ? CONNECTION_OPEN_MAX_MS : OPEN_MAX_MS);
  effects.probeTimes.push({ name, atMs: circuit.untilMs });
}

function addMember(members: string[], member: string, most: number): void {
  if (members.length < most && !members.includes(member)) members.push(member);
}
