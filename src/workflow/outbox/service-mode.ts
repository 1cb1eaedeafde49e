import { withhold } from '../../domain/outbox/withheld';
import { auditOf, type Actor } from '../../domain/ops/audit';
import { conflict } from '../../domain/refusal';
import {
  isStopped,
  isStoppedBySwitch,
  resumeSending,
  stoppedSinceMs,
  stopSending,
} from '../../domain/service/circuits';
import type { ModeView } from '../../contracts/outbox/withheld';
import { isoOrNull } from '../../domain/timestamp';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import type { ServiceMode } from '../../domain/vocabulary';
import type { Log } from '../../platform/log/log';
import { done, refused, transactOnce, type ActionResult } from '../action-result';
import type { ProcessStatus, ProcessStore } from '../ops/metrics-port';
import { CIRCUITS_ORDER_KEY, type IdempotencyRecord, type RecordStore, type Transaction } from '../transaction-port';

/**
 * Whether an installation sends. The circuit `shadow` in Redis is the common answer, with the time since when nothing is
 * sent. It is open while the switch of ops is off, or a process runs with SERVICE_MODE=shadow: the stricter one counts.
 *
 * Why nothing leaves while it is open:
 *
 * - Each call of a report, a violation or a ticket check follows from a lease. Each claim reads the circuit, and the commit
 *   that grants a lease checks in Redis that it is closed (store/outbox/claims.ts). What was granted before is still sent,
 *   for as long as its lease lasts.
 * - The decisions of a process with SERVICE_MODE=shadow find the circuit open with any data (store/service/circuit-drafts.ts).
 * - A lookup of a person has no lease: the API refuses it (operator/ops/withheld.ts).
 * - The token call is made, to prove address and credentials (main/token-proof.ts).
 */

export interface ModeTools {
  /** The mode of this process. */
  readonly mode: ServiceMode;
  readonly records: RecordStore;
  readonly processes: Pick<ProcessStore, 'list'>;
  /** False while other processes may look silent although they run. */
  readonly areOthersKnown: () => boolean;
  readonly log: Log;
}

/** The common mode as this process saw it last. */
export interface CommonMode {
  /** Since when nothing is sent, ms since the epoch; null in live mode. */
  readonly sinceMs: number | null;
  /** True when this process runs in live mode, and another one in shadow mode. */
  readonly isContradicted: boolean;
}

/** What `/readyz` shows of it. */
export const CONTRADICTION = 'another process runs in shadow mode';

/** A process in shadow mode opens the circuit before its first heartbeat, which comes within this time. */
const FIRST_HEARTBEAT_MS = 5000;

/** Far ahead of now, the circuit was opened by a clock that jumped. */
function isNew(sinceMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) < FIRST_HEARTBEAT_MS;
}

/** Opens or closes the circuit if this process may. Rejects when Redis does not answer. */
export async function agreeOnMode(tools: ModeTools): Promise<CommonMode> {
  const { mode, records, log } = tools;
  const common = await records.transact(CIRCUITS_ORDER_KEY, async (transaction): Promise<CommonMode> => {
    const { nowMs, circuitEffects } = transaction;
    const circuits = await transaction.circuits({ isFresh: true });
    if (mode === 'shadow') stopSending(circuits, nowMs);
    const sinceMs = stoppedSinceMs(circuits);
    if (mode === 'shadow' || sinceMs === null) return { sinceMs, isContradicted: false };
    const isContradicted = (await shadowProcesses(tools)).some(({ isSilent }) => !isSilent);
    const mayEnd = !isContradicted && !isStoppedBySwitch(circuits) && tools.areOthersKnown();
    if (!mayEnd || isNew(sinceMs, nowMs)) return { sinceMs, isContradicted };
    resumeSending(circuits, circuitEffects);
    return { sinceMs: null, isContradicted: false };
  });
  if (common.isContradicted) {
    const problem =
      'this process runs with SERVICE_MODE=live and another one with shadow: nothing is sent until all agree';
    log.warn('mode.contradicted', { problem });
  }
  return common;
}

/** Whether an installation sends, and what is withheld. */
export interface SendingSummary {
  /** Since when nothing is sent, ms since the epoch; null in live mode. */
  readonly sinceMs: number | null;
  /** Whether the switch of ops is off. */
  readonly isSwitchedOff: boolean;
  /** Tows and violations that wait for a decision. */
  readonly held: number;
}

/** The mode of the installation. */
export function modeViewOf({ sinceMs, isSwitchedOff }: Omit<SendingSummary, 'held'>): ModeView {
  return {
    state: sinceMs === null ? 'live' : 'shadow',
    since: isoOrNull(sinceMs),
    switch: isSwitchedOff ? 'shadow' : 'live',
  };
}

/** Holds a record that is received or changed while nothing is sent. */
export async function holdUnlessLive(transaction: Pick<Transaction, 'circuits'>, draft: OutboxRecord): Promise<void> {
  if (isStopped(await transaction.circuits())) withhold(draft);
}

export interface SwitchRequest {
  readonly mode: ServiceMode;
  readonly reason: string;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Sets the switch of ops. Live is refused while a process with SERVICE_MODE=shadow runs; the answer names it. */
export function switchMode(
  tools: ModeTools,
  { mode, reason, actor, idempotency }: SwitchRequest,
): Promise<ActionResult> {
  return transactOnce<null>(tools.records, { orderKey: CIRCUITS_ORDER_KEY, idempotency }, async (transaction) => {
    const { nowMs, circuitEffects } = transaction;
    const circuits = await transaction.circuits({ isFresh: true });
    const sinceMs = stoppedSinceMs(circuits);
    const isOff = isStoppedBySwitch(circuits);
    if (mode === 'live' ? sinceMs === null : isOff) return done(null);
    if (mode === 'live') {
      const running = (await shadowProcesses(tools)).filter(({ isSilent }) => !isSilent || !tools.areOthersKnown());
      const isBeginning = tools.mode === 'shadow' || (!isOff && sinceMs !== null && isNew(sinceMs, nowMs));
      if (running.length > 0 || isBeginning) return refused(heldBy(running));
      resumeSending(circuits, circuitEffects);
    } else {
      stopSending(circuits, nowMs, { bySwitch: true });
    }
    transaction.audit(auditOf(actor, mode === 'live' ? 'sending.resumed' : 'sending.stopped', { on: {}, why: reason }));
    return done(null);
  });
}

function heldBy(running: readonly ProcessStatus[]) {
  const details = running.map(({ processId, hostName }) => ({
    field: `process ${processId} on ${hostName}`,
    rule: 'runs with SERVICE_MODE=shadow',
  }));
  const message = 'A process runs with SERVICE_MODE=shadow. Start it with SERVICE_MODE=live, and repeat this.';
  return conflict('mode_held', message, details).refusal;
}

async function shadowProcesses({ processes }: ModeTools): Promise<readonly ProcessStatus[]> {
  return (await processes.list()).filter(({ mode }) => mode === 'shadow');
}
