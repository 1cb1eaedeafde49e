import type { BulkHead, BulkOutcome, BulkResult } from '../contracts/bulk';
import type { Actor } from '../domain/audit';
import { conflict, type Decision } from '../domain/refusal';
import { DAY_MS, HOUR_MS } from '../domain/timestamp';
import type { BulkChange, CurrentItem } from './bulk-port';

/** The rules of a bulk run: pure functions from the stored head to the next one. */

/** How long a run is kept after its preview, and after its start. An Idempotency-Key lives at least as long. */
export const PREVIEW_MS = HOUR_MS;
export const RUN_MS = DAY_MS;

/** Starts a previewed run or resumes an interrupted one. */
export function begin(
  head: BulkHead,
  { mode, runBy, nowMs }: { mode: 'start' | 'resume'; runBy: Actor; nowMs: number },
): Decision<{ head: BulkHead }> {
  if (head.state !== (mode === 'start' ? 'previewed' : 'interrupted')) return notNow(head);
  if (head.counts.waiting === 0) return conflict('nothing_waits', 'None of its tasks can be decided so.');
  const started = mode === 'start' ? { startedAtMs: nowMs, expiresAtMs: nowMs + RUN_MS } : {};
  return { ok: true, head: { ...head, ...started, state: 'running', runBy, failures: 0 } };
}

/** Stops a running run because the API key of its person was revoked; null if it does not run. */
export function interrupt(head: BulkHead): BulkHead | null {
  return head.state === 'running' ? { ...head, state: 'interrupted' } : null;
}

/**
 * Ends a run: tasks that have not begun are skipped. A task that is perhaps being decided keeps waiting for its result; a
 * worker determines it.
 */
export function abort(head: BulkHead, nowMs: number): Decision<{ head: BulkHead }> {
  if (head.state === 'done' || head.state === 'aborted') return notNow(head);
  const current = head.state === 'previewed' ? null : head.current;
  const undecided = current === null ? 0 : 1;
  const { waiting, skipped } = head.counts;
  const counts = { ...head.counts, waiting: undecided, skipped: skipped + waiting - undecided };
  return { ok: true, head: { ...head, state: 'aborted', endedAtMs: nowMs, current, counts } };
}

/** The outcome of a task: an aborted run has skipped every task without a result, except its current one. */
export function outcomeAt(head: BulkHead, position: number, result: BulkResult | null): BulkOutcome {
  if (result !== null) return result.outcome;
  return head.state === 'aborted' && head.current !== position ? 'skipped' : 'waiting';
}

/**
 * Records the result of a task and moves on to the next one. The first result counts, except that `done` is a fact and
 * replaces any other. Null when nothing changes.
 */
export function settle(
  head: BulkHead,
  { item, before, result, nowMs }: { item: CurrentItem; before: BulkResult | null; result: BulkResult; nowMs: number },
): BulkChange | null {
  const outcome = outcomeAt(head, item.position, before);
  if (outcome === result.outcome || (outcome !== 'waiting' && result.outcome !== 'done')) return null;
  const counts = { ...head.counts };
  counts[outcome] -= 1;
  counts[result.outcome] += 1;
  const isOpen = head.state === 'running' || head.state === 'interrupted';
  const isOver = isOpen && counts.waiting === 0;
  const moved = item.position === head.current ? { current: isOpen ? item.next : null, failures: 0 } : {};
  const ended = isOver ? { state: 'done' as const, endedAtMs: nowMs } : {};
  return { head: { ...head, ...moved, ...ended, counts }, result: { ...result, position: item.position } };
}

function notNow({ state }: BulkHead) {
  return conflict(`bulk_${state}`, `The run is ${state}.`);
}
