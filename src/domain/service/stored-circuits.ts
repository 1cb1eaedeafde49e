import { z } from 'zod';
import { storedTasks } from '../outbox/outbox-record';
import { storedRecord } from '../stored';
import { CIRCUIT_NAMES, ENTRY_KINDS } from '../vocabulary';

/** The circuits as one record. Timestamps are ms since the epoch, Redis time. */

const circuit = storedRecord({
  /** No call probes the circuit before this time. */
  untilMs: z.number(),
  sinceMs: z.number(),
  /** Failed probes in a row. */
  failures: z.number(),
  /** The member of the last probe, or `token`. */
  lastProbe: z.string().nullable(),
  /** Only calls that are safe to repeat may probe. */
  safeOnly: z.boolean(),
  /** Ops stopped sending, and only ops resumes it; absent if a process opened the circuit. */
  bySwitch: z.boolean().optional(),
  /** Why it opened, as a code for logs. */
  cause: z.string().optional(),
});
export type Circuit = z.output<typeof circuit>;

export const storedCircuits = storedRecord({
  // Strict: a worker that ignored a circuit of a later version would send what it blocks. Claims are refused instead.
  open: z.partialRecord(z.enum(CIRCUIT_NAMES), circuit),
  /** Consecutive failures that may become an outage, and the first members that had them. */
  failures: z.number(),
  failedMembers: z.array(z.string()),
  /** When the last of them was counted; absent without one. */
  lastFailureMs: z.number().optional(),
  /** Members that got a 403 for an operation before it was paused. */
  forbidden: z.partialRecord(z.enum(ENTRY_KINDS), z.array(z.string())),
  /** Tasks about the service as a whole, by id. */
  tasks: storedTasks,
});
export type Circuits = z.output<typeof storedCircuits> & { version: string };

export const NO_CIRCUITS: Circuits = {
  version: '',
  open: {},
  failures: 0,
  failedMembers: [],
  forbidden: {},
  tasks: {},
};

/** True while no circuit is open, no failure is counted, and nothing is stored about any. */
export function areQuiet({ version, open, failures, failedMembers, forbidden, tasks }: Circuits): boolean {
  if (version !== '' || failures > 0 || failedMembers.length > 0) return false;
  return [open, forbidden, tasks].every((each) => Object.keys(each).length === 0);
}

/** Returns a copy that a decision may change. */
export function draftOfCircuits(circuits: Circuits): Circuits {
  if (circuits.version === '') return { ...circuits, open: {}, failedMembers: [], forbidden: {}, tasks: {} };
  return structuredClone(circuits);
}

export function decodeCircuits(version: string | null, json: string | null): Circuits {
  if (version === null || json === null) return { ...NO_CIRCUITS };
  return { version, ...storedCircuits.parse(JSON.parse(json)) };
}

/** The text of the record; its version is stored beside it. */
export function encodeCircuits(circuits: Circuits): string {
  const { version: _, ...stored } = circuits;
  return JSON.stringify(stored);
}
