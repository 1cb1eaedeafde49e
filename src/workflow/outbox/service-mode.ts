import { hold } from '../../domain/outbox/held-record';
import { isStopped, resumeSending, stoppedSinceMs, stopSending } from '../../domain/service/circuits';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import type { ServiceMode } from '../../domain/vocabulary';
import type { Log } from '../../platform/log/log';
import type { ProcessStore } from '../ops/metrics-port';
import { CIRCUITS_ORDER_KEY, type RecordStore, type Transaction } from '../transaction-port';

/**
 * How the processes of an installation agree on their mode. The circuit `shadow` in Redis is the common mode, with the
 * time since when it applies. A process in shadow mode keeps it open. A process in live mode closes it once no process
 * runs in shadow mode: while any of them disagrees, nothing is sent.
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

/** A process in shadow mode opens the circuit before its first heartbeat, which comes within this time. */
const FIRST_HEARTBEAT_MS = 5000;

/** Opens or closes the circuit if this process may. Rejects when Redis does not answer. */
export async function agreeOnMode(tools: ModeTools): Promise<CommonMode> {
  const { mode, records, log } = tools;
  const common = await records.transact(CIRCUITS_ORDER_KEY, async (transaction): Promise<CommonMode> => {
    const { nowMs, circuitEffects } = transaction;
    const circuits = await transaction.circuits({ isFresh: true });
    if (mode === 'shadow') stopSending(circuits, nowMs);
    const sinceMs = stoppedSinceMs(circuits);
    if (mode === 'shadow' || sinceMs === null) return { sinceMs, isContradicted: false };
    if (await isShadowRunning(tools)) return { sinceMs, isContradicted: true };
    // Far ahead of now, the circuit was opened by a clock that jumped.
    const isNew = Math.abs(nowMs - sinceMs) < FIRST_HEARTBEAT_MS;
    if (isNew || !tools.areOthersKnown()) return { sinceMs, isContradicted: false };
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

/** Holds a record that is received or changed while nothing is sent. */
export async function holdUnlessLive(transaction: Pick<Transaction, 'circuits'>, draft: OutboxRecord): Promise<void> {
  if (isStopped(await transaction.circuits())) hold(draft);
}

async function isShadowRunning({ processes }: ModeTools): Promise<boolean> {
  return (await processes.list()).some(({ mode, isSilent }) => mode === 'shadow' && !isSilent);
}
