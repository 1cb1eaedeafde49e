import type { Delivery } from '../webhook/delivery';
import type { Entry } from '../outbox/entry';
import { WAIT_MAX_MS } from '../outbox/backoff';
import { hasVoidLease, validLease } from '../outbox/lease';
import { headOf, isSettled } from '../outbox/outbox';
import { editEntry, taskIdOf, type OutboxRecord, type StoredTow, type StoredViolation } from '../outbox/outbox-record';
import { dueAtMs, headTaskId } from '../outbox/outbox-schedule';
import { parkedInvoiceTask } from './tasks';
import { DAY_MS } from '../timestamp';
import type { DELIVERY_STATES, STANDINGS } from '../vocabulary';

/** Rules of the conservation check: everything acknowledged or recorded is in exactly one state. */

export type ConservationState = (typeof STANDINGS)[number];

/** The names of checked items. A tow is one when its reports cannot be listed. */
export const ITEM_NAMES = {
  delivery: (id: string) => `delivery ${id}`,
  violation: (id: string) => `violation ${id}`,
  report: (ref: string, seq: number) => `report ${ref} ${seq}`,
  tow: (ref: string) => `tow ${ref}`,
} as const;

/** What an item counts as. */
export function countedAs(name: string): 'deliveries' | 'reports' | 'violations' {
  if (name.startsWith(ITEM_NAMES.delivery(''))) return 'deliveries';
  return name.startsWith(ITEM_NAMES.violation('')) ? 'violations' : 'reports';
}

/** A delivery, a report or a violation that the check counts. */
export interface CheckedItem {
  /** See ITEM_NAMES. */
  readonly name: string;
  readonly state: ConservationState;
  /** True for a lost item that only lacks an index entry: its record shows which one. */
  readonly isRepairable: boolean;
}

/** The index entries of a record, read at the same instant as the record. */
export interface IndexEntries {
  readonly nowMs: number;
  /** When the scheduler runs it next; null when it is not scheduled. */
  readonly scheduledAtMs: number | null;
  isTaskListed(id: string): boolean;
}

/** The lifetime of the marker of an archived tow. A later message for that tow counts as a new tow. */
export const ARCHIVED_MARKER_KEPT_MS = 400 * DAY_MS;

/**
 * Longer than a violation waits for its proof, or an invoice for its tow request. Anything else waits for WAIT_MAX_MS at
 * most. A later time comes from a clock that jumped.
 */
const PROOF_WAIT_MAX_MS = 40 * DAY_MS;

/**
 * Returns the reports of a tow, and the tow itself when it is gone, or due but not scheduled. A report after the
 * head counts as waiting unless the head is lost.
 */
export function checkTow(record: StoredTow, indexed: IndexEntries): CheckedItem[] {
  const { ref, tow, entries } = record;
  if (!tow) return [lostItem(ITEM_NAMES.tow(ref))];
  const head = headOf(entries);
  const headItem = head && stateOfUnsettled(record, indexed);
  const isStuck = headItem?.state === 'lost' && !headItem.isRepairable;
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  const last = Math.max(tow.facts.length, entries.at(-1)?.seq ?? 0);
  const items = Array.from({ length: last }, (_, at): CheckedItem => {
    const name = ITEM_NAMES.report(ref, at + 1);
    const entry = bySeq.get(at + 1);
    if (!entry) return lostItem(name);
    if (isSettled(entry.state)) return { name, state: 'finished', isRepairable: false };
    if (entry === head && headItem) return { name, ...headItem };
    return { name, state: isStuck ? 'lost' : 'waiting', isRepairable: false };
  });
  const hasOtherWork = head === undefined || headTaskId(record) !== null;
  if (hasOtherWork && isUnscheduled(record, indexed))
    items.push({ ...lostItem(ITEM_NAMES.tow(ref)), isRepairable: true });
  return items;
}

/** Returns the state of a violation. It is finished once its tows are matched and its images removed. */
export function checkViolation(record: StoredViolation, indexed: IndexEntries): CheckedItem {
  const name = ITEM_NAMES.violation(record.id);
  const isFinished = headOf(record.entries) === undefined && record.cleanupSince === null;
  return isFinished ? { name, state: 'finished', isRepairable: false } : { name, ...stateOfUnsettled(record, indexed) };
}

export interface CheckedDelivery {
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly verdict: Delivery['verdict'];
  readonly processedAtMs: number | null;
}

/** The index entries of a delivery, read at the same instant as the record. */
export interface DeliveryIndexEntries extends IndexEntries {
  readonly towingReferenceId: string;
  readonly isTowThere: boolean;
  readonly isTowArchived: boolean;
  /** True when its tow request will take the parked delivery along. */
  readonly isParkedAtTow: boolean;
  /** True when it is listed under its kind of difference, where it can be judged again. */
  readonly isDifferenceListed: boolean;
}

/** Returns the state of a delivery; null means that its record is missing or its state unknown. */
export function checkDelivery(
  id: string,
  delivery: CheckedDelivery | null,
  indexed: DeliveryIndexEntries,
): CheckedItem {
  const name = ITEM_NAMES.delivery(id);
  return delivery ? { name, ...stateOfDelivery(delivery, indexed) } : lostItem(name);
}

function stateOfDelivery(delivery: CheckedDelivery, indexed: DeliveryIndexEntries): Omit<CheckedItem, 'name'> {
  const isAtTow = indexed.isTowThere || indexed.isTowArchived;
  const isScheduled = isScheduledWithin(delivery.state === 'parked' ? PROOF_WAIT_MAX_MS : WAIT_MAX_MS, indexed);
  switch (delivery.state) {
    case 'processed':
      return delivery.verdict !== 'created' || isAtTow || mayBeForgotten(delivery, indexed.nowMs)
        ? is('finished')
        : LOST;
    case 'waiting':
      return isScheduled ? is('waiting') : REPAIRABLE;
    case 'differs':
      return indexed.isDifferenceListed ? is('with_a_person') : REPAIRABLE;
    case 'parked': {
      // The tow request made the parked delivery due.
      if (isAtTow) return isScheduled ? is('waiting') : REPAIRABLE;
      if (!indexed.isParkedAtTow) return LOST;
      if (isScheduled) return is('parked');
      return indexed.isTaskListed(parkedTaskId(indexed.towingReferenceId)) ? is('with_a_person') : REPAIRABLE;
    }
  }
}

/**
 * True when the marker of its archived tow may have expired. Without a marker before that, the tow was never
 * archived.
 */
function mayBeForgotten({ processedAtMs }: CheckedDelivery, nowMs: number): boolean {
  return processedAtMs === null || processedAtMs <= nowMs - ARCHIVED_MARKER_KEPT_MS;
}

/** The id of the task about invoices that are parked for a tow. */
export function parkedTaskId(ref: string): string {
  return taskIdOf({ kind: 'tow', ref }, parkedInvoiceTask.subject);
}

const LOST = { state: 'lost', isRepairable: false } as const;
const REPAIRABLE = { state: 'lost', isRepairable: true } as const;

/** An item whose record this process cannot use. */
export function unusableItem(name: string): CheckedItem {
  return { name, state: 'waiting', isRepairable: false };
}

function is(state: ConservationState): Omit<CheckedItem, 'name'> {
  return { state, isRepairable: false };
}

function lostItem(name: string): CheckedItem {
  return { name, ...LOST };
}

function stateOfUnsettled(record: OutboxRecord, indexed: IndexEntries): Omit<CheckedItem, 'name'> {
  const taskId = headTaskId(record);
  if (taskId !== null) return indexed.isTaskListed(taskId) ? is('with_a_person') : REPAIRABLE;
  if (isUnscheduled(record, indexed)) return REPAIRABLE;
  // The list of what is withheld asks a person about it, not a task.
  if (record.withheld === 'held' && headOf(record.entries)) return is('with_a_person');
  // Otherwise only a decision could continue it, and no task asks for one.
  return isScheduledInTime(record, indexed) || validLease(record, indexed.nowMs) ? is('waiting') : LOST;
}

/** True when the record needs a run but none is scheduled. */
function isUnscheduled(record: OutboxRecord, indexed: IndexEntries): boolean {
  const { nowMs } = indexed;
  if (hasVoidLease(record, nowMs)) return true;
  if (isScheduledInTime(record, indexed) || validLease(record, nowMs)) return false;
  return dueAtMs(record, nowMs) !== null;
}

function isScheduledInTime({ entries }: OutboxRecord, indexed: IndexEntries): boolean {
  return isScheduledWithin(waitMaxMsOf(headOf(entries)), indexed);
}

function isScheduledWithin(maxMs: number, { scheduledAtMs, nowMs }: IndexEntries): boolean {
  return scheduledAtMs !== null && scheduledAtMs <= nowMs + maxMs;
}

function waitMaxMsOf(entry: Entry | undefined): number {
  return entry?.state === 'unknown' && entry.kind === 'violation' ? PROOF_WAIT_MAX_MS : WAIT_MAX_MS;
}

/** Undoes times that a jumped clock set absurdly far ahead: the work is due now, the lease is void. */
export function resetFutureTimes(record: OutboxRecord, nowMs: number): void {
  if (hasVoidLease(record, nowMs)) record.lease = null;
  if (record.runAtMs !== null && record.runAtMs > nowMs + WAIT_MAX_MS) record.runAtMs = null;
  for (const entry of record.entries) {
    const isFarAhead = entry.nextAtMs !== null && entry.nextAtMs > nowMs + waitMaxMsOf(entry);
    if (isFarAhead) editEntry(record, entry).nextAtMs = nowMs;
  }
}
