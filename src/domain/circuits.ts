import type { EntryKind } from './entry';
import type { NewTask } from './tasks';
import { PAUSABLE_OPERATIONS, type PausableOperation } from './vocabulary';

/**
 * Circuit breakers, shared by all processes: `connection` (no token, a wrong address, something that answers in place of the
 * service), `outage` (the service fails call after call) and one per paused operation (403). An open circuit blocks calls until
 * a moment; then one call tries it, and an answer closes it.
 *
 * All rules are pure: they change the circuits they are given and note what follows in `CircuitEffects`.
 */

export const CIRCUIT_NAMES: readonly CircuitName[] = [
  'connection',
  'outage',
  ...PAUSABLE_OPERATIONS.map((kind) => `paused.${kind}` as const),
];
export type CircuitName = 'connection' | 'outage' | `paused.${PausableOperation}`;

export interface Circuit {
  /** Until when no call tries it. */
  untilMs: number;
  sinceMs: number;
  /** Failed tries in a row. */
  failures: number;
  /** Who tried last: the member, or `token`. */
  lastProbe: string | null;
  /** Only calls that are safe to repeat may try it. */
  safeOnly: boolean;
}

export interface Circuits {
  version: string;
  open: Partial<Record<CircuitName, Circuit>>;
  /** Failures in a row that may become an outage, and the first members that met them. */
  failures: number;
  failedMembers: string[];
  /** Members that an operation was forbidden for before it was paused. */
  forbidden: Partial<Record<PausableOperation, string[]>>;
  /** Tasks about the service as a whole, by id. */
  tasks: Record<string, { task: Omit<NewTask, 'subject'>; openedAtMs: number }>;
}

/** What follows from a change of circuits, besides the change itself. */
export interface CircuitEffects {
  /** Circuits that closed: everything they block is due. */
  readonly closed: CircuitName[];
  /** Circuits that may be tried from a moment on: some of those they block look then. */
  readonly looks: { name: CircuitName; atMs: number }[];
  /** Members that are due now. */
  readonly due: string[];
}

export const NO_CIRCUITS: Circuits = {
  version: '',
  open: {},
  failures: 0,
  failedMembers: [],
  forbidden: {},
  tasks: {},
};

export function noEffects(): CircuitEffects {
  return { closed: [], looks: [], due: [] };
}

/** A copy that a decision may change. */
export function draftOfCircuits(circuits: Circuits): Circuits {
  if (circuits.version === '') return { ...circuits, open: {}, failedMembers: [], forbidden: {}, tasks: {} };
  return structuredClone(circuits);
}

const OUTAGE_FAILURES = 5;
const OUTAGE_MEMBERS = 3;
const PAUSE_MEMBERS = 3;
export const PAUSE_PROBE_MS = 300_000;
/** The longest a circuit stays open without a try. For the connection it is five minutes, the turn of another tow included. */
const OPEN_MAX_MS = 3_600_000;
const CONNECTION_OPEN_MAX_MS = 290_000;

/** The circuits a call of this kind must pass, in the order in which they are looked at. */
export function circuitsFor(kind: EntryKind): readonly CircuitName[] {
  return ['connection', 'outage', `paused.${kind}`];
}

/** The circuit that blocks a call of this kind now; null when none does. */
export function blocking(
  circuits: Circuits,
  kind: EntryKind,
  nowMs: number,
): { name: CircuitName; untilMs: number } | null {
  for (const name of circuitsFor(kind)) {
    const circuit = circuits.open[name];
    if (circuit && circuit.untilMs > nowMs) return { name, untilMs: circuit.untilMs };
  }
  return null;
}

/** The circuit whose next try must be safe to repeat; null when there is none. */
export function circuitForSafeTries({ open }: Circuits): 'outage' | 'connection' | null {
  if (open.outage) return 'outage';
  return open.connection?.safeOnly ? 'connection' : null;
}

/** One call tries an open circuit; if its worker is lost, others look after the lease. */
export function beginTry(
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

/** The service answered: what any answer says about it as a whole, however late it comes. */
export function noteAnswer(
  circuits: Circuits,
  answer: { kind: EntryKind; wasAnswered: boolean; isAlive: boolean; isForbidden: boolean },
  effects: CircuitEffects,
): void {
  if (answer.wasAnswered) close(circuits, 'connection', effects);
  if (!answer.isAlive) return;
  endOutage(circuits, effects);
  if (!answer.isForbidden) resumeOperation(circuits, answer.kind, effects);
}

/** Ends the pause of an operation; false when it was not paused. */
export function resumeOperation(circuits: Circuits, kind: EntryKind, effects: CircuitEffects): boolean {
  delete circuits.forbidden[kind];
  return close(circuits, `paused.${kind}`, effects);
}

export interface ConnectionLoss {
  readonly delayMs: number;
  /** How often in a row it has failed, this time included, as far as the caller knew: calls that fail together count once. */
  readonly failures: number;
  readonly isSafeOnly: boolean;
  readonly task: NewTask;
}

/** The connection as a whole fails. What answers in place of the service ends no outage. */
export function loseConnection(circuits: Circuits, lost: ConnectionLoss, nowMs: number, effects: CircuitEffects): void {
  if (!lost.isSafeOnly) endOutage(circuits, effects);
  else if (circuits.open.outage) blockFor(circuits, 'outage', lost.delayMs, nowMs, effects);
  const circuit = openCircuit(circuits, 'connection', lost.task, nowMs);
  circuit.safeOnly ||= lost.isSafeOnly;
  circuit.failures = Math.max(circuit.failures, lost.failures);
  blockFor(circuits, 'connection', lost.delayMs, nowMs, effects);
}

/** The service failed a call of this member. Enough failures in a row open the outage; a failed try keeps it open longer. */
export function noteFailure(
  circuits: Circuits,
  failed: { member: string; delayMs: number; task: NewTask },
  nowMs: number,
  effects: CircuitEffects,
): void {
  const { connection, outage } = circuits.open;
  if (connection) {
    if (connection.lastProbe !== failed.member) return;
    // A try that did not reach the service proves nothing; it is repeated, later each time.
    connection.failures += 1;
    blockFor(circuits, 'connection', failed.delayMs * 2 ** Math.min(connection.failures, 8), nowMs, effects);
    return;
  }
  // Calls that were under way when the outage opened say nothing new about it.
  if (outage && outage.lastProbe !== failed.member) return;
  circuits.failures += 1;
  noteMember(circuits.failedMembers, failed.member, OUTAGE_MEMBERS);
  if (outage) {
    outage.failures += 1;
    blockFor(circuits, 'outage', failed.delayMs, nowMs, effects);
  } else if (circuits.failures >= OUTAGE_FAILURES && circuits.failedMembers.length >= OUTAGE_MEMBERS) {
    openCircuit(circuits, 'outage', failed.task, nowMs);
    blockFor(circuits, 'outage', failed.delayMs, nowMs, effects);
  }
}

/** The service forbids an operation for this member. True when the operation is paused now. */
export function noteForbidden(
  circuits: Circuits,
  forbidden: { kind: EntryKind; member: string; task: NewTask },
  nowMs: number,
  effects: CircuitEffects,
): boolean {
  const name = `paused.${forbidden.kind}` as const;
  const members = (circuits.forbidden[forbidden.kind] ??= []);
  noteMember(members, forbidden.member, PAUSE_MEMBERS);
  if (!circuits.open[name]) {
    if (members.length < PAUSE_MEMBERS) return false;
    openCircuit(circuits, name, forbidden.task, nowMs);
    // Those that were refused one by one before wait with all others now.
    effects.due.push(...members);
  }
  blockFor(circuits, name, PAUSE_PROBE_MS, nowMs, effects);
  return true;
}

/** What the token call said while no entry may try: it is over, or it lasts. */
export function noteProbe(
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
    // The token call may reach the service where other calls do not: one call of any kind tries now, the others wait.
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
  circuits.failedMembers = [];
  close(circuits, 'outage', effects);
}

function openCircuit(circuits: Circuits, name: CircuitName, { subject, ...task }: NewTask, nowMs: number): Circuit {
  circuits.tasks[subject] ??= { task, openedAtMs: nowMs };
  return (circuits.open[name] ??= { untilMs: nowMs, sinceMs: nowMs, failures: 0, lastProbe: null, safeOnly: false });
}

/** True when it was open. */
function close(circuits: Circuits, name: CircuitName, effects: CircuitEffects): boolean {
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
  effects.looks.push({ name, atMs: circuit.untilMs });
}

function noteMember(members: string[], member: string, most: number): void {
  if (members.length < most && !members.includes(member)) members.push(member);
}
