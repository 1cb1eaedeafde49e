import { z } from 'zod';
import { backoffWithoutJitterMs, type RetrySettings } from '../outbox/backoff';
import { change } from '../change';
import { closeTask, openTask, type StoredTow } from '../outbox/outbox-record';
import { counter, orEmpty, orUnknown, storedTimestampMs } from '../stored';
import { failingDeliveryTask, invoicesSetAsideTask, parkedInvoiceTask } from '../ops/tasks';
import { DAY_MS } from '../timestamp';
import { DELIVERY_KINDS, DELIVERY_STATES } from '../vocabulary';

/**
 * The results of processing a delivery.
 *
 * - created: a tow from its request. already_known: the same request again. rival_kept: another request for a known tow.
 * - attached: an invoice to its tow. set_aside: an invoice without a tow, kept but not attached.
 * - late: its tow is archived.
 * - not_acted_on: it breaks the contract as expected, and nothing can be done with it.
 */
const PROCESSED_VERDICTS = [
  'created',
  'already_known',
  'rival_kept',
  'attached',
  'set_aside',
  'late',
  'not_acted_on',
] as const;
export type ProcessedVerdict = (typeof PROCESSED_VERDICTS)[number];

/** A received webhook call, each field a text in its hash. Timestamps are ms since the epoch, Redis time. */
export const storedDelivery = z.object({
  id: z.string(),
  /** Changed by every commit. A decision on another version is not written. */
  version: z.string().default(''),
  kind: z.enum(DELIVERY_KINDS),
  towingReferenceId: z.string(),
  rawBody: z.string(),
  verified: z.stringbool({ truthy: ['true'], falsy: ['false'] }).default(false),
  signatureId: orEmpty(z.string()),
  /** When the sender signed the first call of it, by the sender's clock; null without a verified signature. */
  signedAtMs: storedTimestampMs,
  state: z.enum(DELIVERY_STATES),
  /** The result of processing; null before. */
  verdict: orEmpty(orUnknown(PROCESSED_VERDICTS)),
  receivedAtMs: counter,
  processedAtMs: storedTimestampMs,
  /** When it was parked until its tow request comes; null if never. */
  parkedAtMs: storedTimestampMs,
  /** The kind of difference from the contract that it was last kept for; null if never. */
  differenceId: orEmpty(z.string()),
  copies: counter.default(1),
  /** Failed runs in a row. */
  failures: counter.default(0),
  replays: counter.default(0),
  /** How many changes (ops/changes.ts) it has had; the first is that it was accepted. */
  changeCount: counter.default(1),
});
export type Delivery = z.output<typeof storedDelivery>;

/** How many different invoices are parked for one unknown tow. */
const PARKED_MAX = 100;
const PARKED_TASK_AFTER_MS = DAY_MS;
/** After this many failures in a row a task is opened. The delivery is still retried. */
const FAILURES_FOR_TASK = 10;

/** Records the result of processing a delivery, which also takes it off the schedule. */
export function settleDelivery(delivery: Delivery, tow: StoredTow, verdict: ProcessedVerdict, nowMs: number): void {
  // The estimated Redis time may be some ms earlier than the time at which the delivery was stored.
  const processedAtMs = Math.max(nowMs, delivery.receivedAtMs);
  change(delivery, { state: 'processed', verdict, processedAtMs });
  endFailures(delivery, tow);
}

/** Keeps a delivery that breaks the contract until its kind of difference is judged again. */
export function keepDiffering(delivery: Delivery, tow: StoredTow, differenceId: string): void {
  change(delivery, { state: 'differs', differenceId });
  endFailures(delivery, tow);
}

/** Records that a run has succeeded. */
function endFailures(delivery: Delivery, tow: StoredTow): void {
  delivery.failures = 0;
  closeTask(tow, failingDeliveryTask(delivery.id).subject);
}

/**
 * Parks an invoice: it waits for the request of its tow. When too many are parked for that tow, it is set aside.
 * Returns when to run it again, to open a task about it; null once that task is open.
 */
export function parkDelivery(
  delivery: Delivery,
  tow: StoredTow,
  nowMs: number,
): { readonly verdict: 'parked' | 'set_aside'; readonly runAtMs: number | null } {
  const isParked = tow.parked.some(({ id }) => id === delivery.id);
  if (!isParked && tow.parked.length >= PARKED_MAX) {
    settleDelivery(delivery, tow, 'set_aside', nowMs);
    openTask(tow, invoicesSetAsideTask, nowMs);
    return { verdict: 'set_aside', runAtMs: null };
  }
  const parkedAtMs = delivery.parkedAtMs ?? nowMs;
  if (!isParked) tow.parked.push({ id: delivery.id, atMs: parkedAtMs });
  if (delivery.state !== 'parked') change(delivery, { state: 'parked', parkedAtMs });
  endFailures(delivery, tow);
  const askAtMs = parkedAtMs + PARKED_TASK_AFTER_MS;
  if (askAtMs > nowMs) return { verdict: 'parked', runAtMs: askAtMs };
  openTask(tow, parkedInvoiceTask, nowMs);
  return { verdict: 'parked', runAtMs: null };
}

/** Makes a delivery ready to be processed again. */
export function reopenDelivery(delivery: Delivery): void {
  delivery.replays += 1;
  if (delivery.state === 'processed' || delivery.state === 'differs') delivery.state = 'waiting';
}

/** A delivery that was deferred after a failure. */
export interface DeferredDelivery {
  /** Failed runs in a row; null if it cannot be decoded, so that they cannot be counted. */
  readonly failures: number | null;
  /** Whether it has failed so often that there is a task about it. */
  readonly needsPerson: boolean;
}

/** Counts a failed run. Returns the time of the next run, ms since the epoch, and whether to open a task. */
export function deferDelivery(
  delivery: Delivery,
  settings: RetrySettings,
  nowMs: number,
): { readonly runAtMs: number; readonly asksPerson: boolean; readonly needsPerson: boolean } {
  delivery.failures += 1;
  const { failures } = delivery;
  return {
    runAtMs: nowMs + backoffWithoutJitterMs(failures - 1, settings),
    // Again later, because a person may have closed the task.
    asksPerson: failures % FAILURES_FOR_TASK === 0,
    needsPerson: failures >= FAILURES_FOR_TASK,
  };
}
