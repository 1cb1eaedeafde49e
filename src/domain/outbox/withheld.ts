import type { Circuits } from '../service/stored-circuits';
import { change } from '../change';
import { isStopped, stoppedSinceMs } from '../service/circuits';
import { unblock, type Entry } from './entry';
import { headOf, isSettled } from './outbox';
import { editEntry, addEvent, type OutboxRecord } from './outbox-record';
import { conflict, type Decision } from '../refusal';
import { waiveEntry } from './settle-entry';
import { STOPPED, WITHHELD_ACTIONS, type WithheldState } from '../vocabulary';

/**
 * Records of a shadow time, in which everything is received, recorded and shown, and nothing is sent
 * (workflow/outbox/service-mode.ts).
 *
 * A tow or violation of it is `held` as a whole, also after the switch to live, until a person decides: it is
 * sent after all, in order, or declined. A declined tow owes the service nothing any more: reports of later facts are
 * waived as they are recorded, so that a `released` never leaves without its `started`.
 */

/** Why the reports of a declined tow are waived. */
const DECLINED_REASON = 'shadow time: declined';

/** Holds a record that was received or changed in a shadow time. A declined tow stays declined. */
export function withhold(record: OutboxRecord): void {
  record.withheld ??= 'held';
}

/** True for a report that came due while the circuit was open: a process in live mode recorded it meanwhile. */
export function cameWhileStopped(entry: Entry, circuits: Circuits): boolean {
  const sinceMs = stoppedSinceMs(circuits);
  return sinceMs !== null && entry.createdAtMs >= sinceMs;
}

/**
 * The entry as people see it and decide on it. One of the shadow time is not blocked by a circuit, which may be closed: it
 * waits for a person.
 */
export function asShown<E extends Entry>(entry: E, withheld: WithheldState | null): E {
  return withheld === 'held' && !isSettled(entry.state) ? { ...entry, waitsFor: STOPPED } : entry;
}

/** Waives what a declined tow owes by a new fact. */
export function waiveIfDeclined(record: OutboxRecord, nowMs: number): void {
  if (record.withheld === 'declined') waiveUnsettled(record, DECLINED_REASON, nowMs);
}

/** A decision of a person about a record of the shadow time. */
export type WithheldCommand =
  | { readonly action: 'send'; readonly reason?: string | undefined }
  | { readonly action: 'decline'; readonly reason: string };

/**
 * Carries out a decision on a held record: it is sent in order from now on, or its unsettled entries are waived. Refusals:
 * `not_held`, `shadow_mode` (sending while the circuit is open), `report_in_flight`.
 */
export function decideWithheld(
  record: OutboxRecord,
  command: WithheldCommand,
  { nowMs, circuits, by }: { readonly nowMs: number; readonly circuits: Circuits; readonly by: string },
): Decision<object> {
  if (record.withheld !== 'held') return conflict('not_held', 'It is not held since a shadow time.');
  switch (command.action) {
    case 'send': {
      if (isStopped(circuits)) {
        return conflict('shadow_mode', 'Nothing is sent in shadow mode. Go live first.');
      }
      record.withheld = null;
      // It left the waiting queue of the rate limit when it was held, with the time of its place there.
      record.runAtMs = null;
      const head = headOf(record.entries);
      // The time in which it was held does not count against it.
      if (head) {
        const entry = editEntry(record, head);
        unblock(entry, nowMs);
        change(entry, { firstFailedAtMs: null, giveUpAtMs: null });
      }
      if (record.kind === 'tow') addEvent(record, { type: WITHHELD_ACTIONS.send, by }, nowMs);
      return { ok: true };
    }
    case 'decline':
      if (record.entries.some(({ attemptId }) => attemptId !== null)) {
        return conflict('report_in_flight', 'A report is being sent right now; decide when its answer is here.');
      }
      record.withheld = 'declined';
      waiveUnsettled(record, command.reason, nowMs);
      if (record.kind === 'tow')
        addEvent(record, { type: WITHHELD_ACTIONS.decline, by, reason: command.reason }, nowMs);
      return { ok: true };
  }
}

function waiveUnsettled(record: OutboxRecord, reason: string, nowMs: number): void {
  for (const entry of record.entries) {
    if (!isSettled(entry.state)) waiveEntry(record, editEntry(record, entry), reason, nowMs);
  }
}
