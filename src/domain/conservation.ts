import { headOf, isEntrySettled } from './entry';
import { entryTaskId, type OutboxRecord, type StoredTow, type StoredViolation } from './outbox-record';
import { dueAtMs, isWithPerson } from './outbox-schedule';
import { parkedInvoiceTask } from './tasks';
import type { DELIVERY_STATES, STANDINGS } from './vocabulary';

/** The rules of the conservation check: the one state of everything acknowledged or recorded. */

export type ConservationState = (typeof STANDINGS)[number];

/** What the check counts: a delivery, a report or a violation. */
export interface CheckedItem {
  /** `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>` or `tow <towing reference>`. */
  readonly name: string;
  readonly state: ConservationState;
  /** A lost item that only lacks an index entry; its record says which. */
  readonly isRepairable: boolean;
}

/** What is known of a record besides the record itself, read at the same instant. */
export interface IndexEntries {
  readonly nowMs: number;
  /** When the poller looks at it next; null when it is not on the schedule. */
  readonly scheduledAtMs: number | null;
  /** Whether people are shown a task. */
  isTaskListed(id: string): boolean;
}

/** How long the marker of an archived tow is kept: what comes later for that tow is taken for a new one. */
export const ARCHIVED_MARKER_KEPT_MS = 400 * 86_400_000;

/** Longer than any wait: what is scheduled later comes from a clock that jumped. */
const SCHEDULE_MAX_MS = 40 * 86_400_000;
/** A lease lasts seconds. */
const LEASE_MAX_MS = 3_600_000;

/**
 * The reports of a tow, and `tow <reference>` when it is gone or is to be looked at and is not on the schedule. A report
 * behind the head waits for as long as the head is not lost.
 */
export function checkTow(record: StoredTow, indexed: IndexEntries): CheckedItem[] {
  const { ref, tow, entries } = record;
  if (!tow) return [lostItem(`tow ${ref}`)];
  const head = headOf(entries);
  const headItem = head && stateOfOwed(record, indexed);
  const isStuck = headItem?.state === 'lost' && !headItem.isRepairable;
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]));
  const last = Math.max(tow.facts.length, entries.at(-1)?.seq ?? 0);
  const items = Array.from({ length: last }, (_, at): CheckedItem => {
    const name = `report ${ref} ${at + 1}`;
    const entry = bySeq.get(at + 1);
    if (!entry) return lostItem(name);
    if (isEntrySettled(entry)) return { name, state: 'finished', isRepairable: false };
    if (entry === head && headItem) return { name, ...headItem };
    return { name, state: isStuck ? 'lost' : 'waiting', isRepairable: false };
  });
  const hasOtherWork = head === undefined || isWithPerson(record);
  if (hasOtherWork && isOverlooked(record, indexed)) items.push({ ...lostItem(`tow ${ref}`), isRepairable: true });
  return items;
}

/** A violation; it is finished only once nothing is left to do for its tows and images. */
export function checkViolation(record: StoredViolation, indexed: IndexEntries): CheckedItem {
  const name = `violation ${record.id}`;
  const isFinished = record.entries.every(isEntrySettled) && record.unfinishedSince === null;
  return isFinished ? { name, state: 'finished', isRepairable: false } : { name, ...stateOfOwed(record, indexed) };
}

/** What the check needs to know of a delivery. */
export interface CheckedDelivery {
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly verdict: string | null;
  readonly processedAtMs: number | null;
}

/** What is known of a delivery besides its record, read at the same instant. */
export interface DeliveryIndexEntries extends IndexEntries {
  readonly towingReferenceId: string;
  readonly isTowThere: boolean;
  readonly isTowArchived: boolean;
  /** Whether its tow, once it is requested, takes it along. */
  readonly isParkedAtTow: boolean;
}

/** A delivery; null: there is no such record, or its state is unknown. */
export function checkDelivery(
  id: string,
  delivery: CheckedDelivery | null,
  indexed: DeliveryIndexEntries,
): CheckedItem {
  const name = `delivery ${id}`;
  return delivery ? { name, ...stateOfDelivery(delivery, indexed) } : lostItem(name);
}

function stateOfDelivery(delivery: CheckedDelivery, indexed: DeliveryIndexEntries): Omit<CheckedItem, 'name'> {
  const isAtTow = indexed.isTowThere || indexed.isTowArchived;
  const isScheduled = isScheduledInTime(indexed);
  switch (delivery.state) {
    case 'processed':
      return delivery.verdict !== 'created' || isAtTow || mayBeForgotten(delivery, indexed.nowMs)
        ? is('finished')
        : LOST;
    case 'waiting':
      return isScheduled ? is('waiting') : REPAIRABLE;
    case 'parked': {
      // The tow took it along when it was requested.
      if (isAtTow) return isScheduled ? is('waiting') : REPAIRABLE;
      if (!indexed.isParkedAtTow) return LOST;
      if (isScheduled) return is('parked');
      return indexed.isTaskListed(parkedTaskId(indexed.towingReferenceId)) ? is('with_a_person') : REPAIRABLE;
    }
  }
}

/** The marker of an archived tow is deleted after 400 days: until then a tow without one was never archived. */
function mayBeForgotten({ processedAtMs }: CheckedDelivery, nowMs: number): boolean {
  return processedAtMs === null || processedAtMs <= nowMs - ARCHIVED_MARKER_KEPT_MS;
}

/** The id of the task about invoices that wait for a tow. */
export function parkedTaskId(ref: string): string {
  return `${parkedInvoiceTask.subject}.${ref}`;
}

/** The id of the task that the head of a record waits for; null when none is open. */
export function headTaskId(record: OutboxRecord): string | null {
  const head = headOf(record.entries);
  return head && isWithPerson(record) ? entryTaskId(record, head) : null;
}

const LOST = { state: 'lost', isRepairable: false } as const;
const REPAIRABLE = { state: 'lost', isRepairable: true } as const;

function is(state: ConservationState): Omit<CheckedItem, 'name'> {
  return { state, isRepairable: false };
}

function lostItem(name: string): CheckedItem {
  return { name, ...LOST };
}

function stateOfOwed(record: OutboxRecord, indexed: IndexEntries): Omit<CheckedItem, 'name'> {
  const taskId = headTaskId(record);
  if (taskId !== null) return indexed.isTaskListed(taskId) ? is('with_a_person') : REPAIRABLE;
  if (isOverlooked(record, indexed)) return REPAIRABLE;
  // Otherwise only a person could go on, and no task asks for one.
  return isScheduledInTime(indexed) || isLeased(record, indexed.nowMs) ? is('waiting') : LOST;
}

/** True when a worker is owed a look at the record, and none will come. */
function isOverlooked(record: OutboxRecord, indexed: IndexEntries): boolean {
  const { nowMs } = indexed;
  if (isFarAhead(record.lease?.untilMs, nowMs, LEASE_MAX_MS)) return true;
  if (isScheduledInTime(indexed) || isLeased(record, nowMs)) return false;
  return dueAtMs(record, nowMs) !== null;
}

function isScheduledInTime({ scheduledAtMs, nowMs }: IndexEntries): boolean {
  return scheduledAtMs !== null && !isFarAhead(scheduledAtMs, nowMs, SCHEDULE_MAX_MS);
}

function isLeased({ lease }: OutboxRecord, nowMs: number): boolean {
  return lease !== null && lease.untilMs > nowMs;
}

function isFarAhead(atMs: number | null | undefined, nowMs: number, maxMs: number): boolean {
  return atMs !== null && atMs !== undefined && atMs > nowMs + maxMs;
}

/** Takes back what a clock that jumped has put absurdly far ahead: such work is due now, such a lease is void. */
export function takeBackFarAhead(record: OutboxRecord, nowMs: number): void {
  if (isFarAhead(record.lease?.untilMs, nowMs, LEASE_MAX_MS)) record.lease = null;
  if (isFarAhead(record.lookAtMs, nowMs, SCHEDULE_MAX_MS)) record.lookAtMs = null;
  for (const entry of record.entries) {
    if (isFarAhead(entry.nextAtMs, nowMs, SCHEDULE_MAX_MS)) entry.nextAtMs = nowMs;
  }
}
