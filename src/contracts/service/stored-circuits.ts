import { ENTRY_KINDS } from '../../domain/vocabulary';
import { z } from 'zod';
import { CIRCUIT_NAMES, NO_CIRCUITS, type Circuits } from '../../domain/service/circuits';
import { storedTasks } from '../../domain/outbox/outbox-record';

/** The circuits in Redis as one JSON text. Unknown fields are kept. */
const circuit = z.looseObject({
  untilMs: z.number(),
  sinceMs: z.number(),
  failures: z.number(),
  lastProbe: z.string().nullable(),
  safeOnly: z.boolean(),
  bySwitch: z.boolean().optional(),
  cause: z.string().optional(),
});

export const storedCircuits = z.looseObject({
  // Strict: a worker that ignored a circuit of a later version would send what it blocks. Claims are refused instead.
  open: z.partialRecord(z.enum(CIRCUIT_NAMES), circuit),
  failures: z.number(),
  failedMembers: z.array(z.string()),
  lastFailureMs: z.number().optional(),
  forbidden: z.partialRecord(z.enum(ENTRY_KINDS), z.array(z.string())),
  tasks: storedTasks,
});

export function decodeCircuits(version: string | null, json: string | null): Circuits {
  if (version === null || json === null) return { ...NO_CIRCUITS };
  return { version, ...storedCircuits.parse(JSON.parse(json)) };
}

export function encodeCircuits(circuits: Circuits): string {
  const { version: _, ...stored } = circuits;
  return JSON.stringify(stored);
}
