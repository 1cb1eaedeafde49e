import { closeTask, openTask, type StoredTow } from './outbox-record';
import { failingDeliveryTask, invoicesSetAsideTask, parkedInvoiceTask } from './tasks';
import type { DeliveryKind, DeliveryState } from './vocabulary';

/** One webhook call received, as it is stored and as the rules see it. Timestamps are ms since the epoch, Redis time. */
export interface Delivery {
  readonly id: string;
  /** Changed by every commit: a decision on another version is not written. */
  readonly version: string;
  readonly kind: DeliveryKind;
  readonly towingReferenceId: string;
  readonly rawBody: string;
  readonly verified: boolean;
  readonly signatureId: string | null;
  state: DeliveryState;
  /** What processing it led to; null before. */
  verdict: string | null;
  readonly receivedAtMs: number;
  processedAtMs: number | null;
  /** When it was parked to wait for its tow; null when it never was. */
  parkedAtMs: number | null;
  readonly copies: number;
  /** Failed runs in a row. */
  failures: number;
  replays: number;
}

/** So many different invoices wait for one unknown tow, at most. */
const PARKED_MAX = 100;
const PARKED_TASK_AFTER_MS = 24 * 3_600_000;
/** After so many failures in a row a person is asked to look at a delivery, which is retried nevertheless. */
const FAILURES_FOR_TASK = 10;

/** Notes what processing a delivery led to. It leaves the schedule with that. */
export function settleDelivery(delivery: Delivery, tow: StoredTow, verdict: string, nowMs: number): void {
  // The estimated time of Redis may be some milliseconds behind the time at which it stored the delivery.
  const processedAtMs = Math.max(nowMs, delivery.receivedAtMs);
  Object.assign(delivery, { state: 'processed', verdict, processedAtMs, failures: 0 });
  closeTask(tow, `${failingDeliveryTask(delivery.id).subject}.${tow.ref}`);
}

/**
 * Parks an invoice until its tow is requested; a tow that has too many parked already sets it aside. Returns when to look
 * at it again, ms, to ask a person about it; null once one is asked.
 */
export function parkDelivery(
  delivery: Delivery,
  tow: StoredTow,
  nowMs: number,
): { readonly verdict: 'parked' | 'set_aside'; readonly lookAtMs: number | null } {
  const isParked = tow.parked.some(({ id }) => id === delivery.id);
  if (!isParked && tow.parked.length >= PARKED_MAX) {
    settleDelivery(delivery, tow, 'set_aside', nowMs);
    openTask(tow, invoicesSetAsideTask, nowMs);
    return { verdict: 'set_aside', lookAtMs: null };
  }
  const parkedAtMs = delivery.parkedAtMs ?? nowMs;
  if (!isParked) tow.parked.push({ id: delivery.id, atMs: parkedAtMs });
  if (delivery.state !== 'parked') Object.assign(delivery, { state: 'parked', parkedAtMs });
  const askAtMs = parkedAtMs + PARKED_TASK_AFTER_MS;
  if (askAtMs > nowMs) return { verdict: 'parked', lookAtMs: askAtMs };
  openTask(tow, parkedInvoiceTask, nowMs);
  return { verdict: 'parked', lookAtMs: null };
}

/** Makes a delivery ready to be processed once more. */
export function replayDelivery(delivery: Delivery): void {
  delivery.replays += 1;
  if (delivery.state === 'processed') delivery.state = 'waiting';
}

/** Counts a failed run. Returns when to run again, ms, and whether a person is to be asked now. */
export function deferDelivery(
  delivery: Delivery,
  wait: { readonly baseMs: number; readonly capMs: number },
  nowMs: number,
): { readonly runAtMs: number; readonly asksPerson: boolean } {
  delivery.failures += 1;
  const waitMs = Math.min(wait.capMs, wait.baseMs * 2 ** Math.min(delivery.failures - 1, 20));
  return { runAtMs: nowMs + waitMs, asksPerson: delivery.failures % FAILURES_FOR_TASK === 0 };
}
