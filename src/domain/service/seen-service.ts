import { MINUTE_MS } from '../timestamp';

/** The rules by which what all processes see of the service is counted together. Times are ms, Redis time. */

/** Counts of one process since its last report. Fields are named `<path> <type>`. */
export interface SeenService {
  readonly messages: Record<string, { samples: number; readonly fields: Record<string, number> }>;
  readonly calls: Record<string, { readonly statuses: Record<string, number>; readonly steps: Record<string, number> }>;
}

/** What was seen of the messages of an operation or a webhook. */
export interface MessageCounts {
  readonly samples: number;
  readonly first: number;
  readonly last: number;
  readonly fields: Readonly<Record<string, { readonly count: number; readonly first: number; readonly last: number }>>;
}

/** The calls of an operation per ten minutes, named by their number since the epoch. */
export type CallCounts = Readonly<
  Record<
    string,
    { readonly statuses: Readonly<Record<string, number>>; readonly steps: Readonly<Record<string, number>> }
  >
>;

/** More fields than documented messages have. Further ones are not counted. */
const FIELDS_MAX = 120;
const SLOT_MS = 10 * MINUTE_MS;
/** The current ten minutes and the hour before. */
const SLOTS_KEPT = 7;

/** Whether the calls of a slot are kept and shown. */
export function isRecentSlot(slot: string, nowMs: number): boolean {
  return Number(slot) > Math.floor(nowMs / SLOT_MS) - SLOTS_KEPT;
}

/** Adds the messages that a process has seen to those of all processes; `known` is null before the first ones. */
export function withMessages(
  known: MessageCounts | null,
  seen: SeenService['messages'][string],
  nowMs: number,
): MessageCounts {
  const fields = { ...known?.fields };
  let count = Object.keys(fields).length;
  for (const [field, by] of Object.entries(seen.fields)) {
    const before = fields[field];
    if (before === undefined && count >= FIELDS_MAX) continue;
    if (before === undefined) count += 1;
    fields[field] = { ...before, count: (before?.count ?? 0) + by, first: before?.first ?? nowMs, last: nowMs };
  }
  const samples = (known?.samples ?? 0) + seen.samples;
  return { ...known, samples, first: known?.first ?? nowMs, last: nowMs, fields };
}

/** Adds the calls that a process has made to those of all processes, and leaves out old slots. */
export function withCalls(known: CallCounts, seen: SeenService['calls'][string], nowMs: number): CallCounts {
  const current = String(Math.floor(nowMs / SLOT_MS));
  const kept = Object.entries(known).filter(([slot]) => isRecentSlot(slot, nowMs));
  const before = known[current];
  const statuses = sumOf(before?.statuses ?? {}, seen.statuses);
  const steps = sumOf(before?.steps ?? {}, seen.steps);
  return { ...Object.fromEntries(kept), [current]: { ...before, statuses, steps } };
}

function sumOf(counts: Readonly<Record<string, number>>, more: Readonly<Record<string, number>>) {
  const sum = { ...counts };
  for (const [name, by] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + by;
  return sum;
}
