import type { SentKind } from '../src/domain/figures';
import type { Settled } from '../src/domain/settle-attempt';
import type { Metrics } from '../src/platform/metrics';
import type { Attempted } from './attempt-result';

/** An attempt that is stored. */
export interface StoredAttempt extends Attempted {
  readonly stored: Settled;
  /** How long ago what it says was recorded, ms. */
  readonly sinceRecordedMs: number;
}

/** Counts an attempt to send a report or a violation. One that never began, as its claim was too old, was none. */
export function countAttempt(kind: SentKind, attempted: StoredAttempt, metrics: Metrics): void {
  const { call, verdict, stored, sinceRecordedMs } = attempted;
  if (call.exchange.kind === 'dropped') return;
  metrics.reportAttempted(kind, verdict.next, call);
  // What somebody else has settled meanwhile is not delivered a second time.
  const settles = stored === 'done' || stored === 'late_accepted';
  if (verdict.next === 'accepted' && settles) metrics.reportDelivered(kind, sinceRecordedMs);
}
