import { beginShadow, endShadow } from '../domain/shadow';
import type { ServiceMode } from '../domain/vocabulary';
import type { Log } from '../platform/log';
import type { ProcessStore } from './metrics-port';
import { CIRCUITS_ORDER_KEY, type RecordStore, type Transaction } from './transaction-port';

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
  readonly log: Log;
}

/** The common mode as this process saw it last. */
export interface CommonMode {
  /** Since when nothing is sent, ms since the epoch; null in live mode. */
  readonly shadowSinceMs: number | null;
  /** True when this process runs in live mode, and another one in shadow mode. */
  readonly isContradicted: boolean;
}

/** A process in shadow mode opens the circuit before its first heartbeat, which comes within this time. */
const FIRST_HEARTBEAT_MS = 5000;

/** Opens or closes the circuit if this process may. Rejects when Redis does not answer. */
export function agreeOnMode(tools: ModeTools): Promise<CommonMode> {
  const { mode, records, log } = tools;
  return records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
    const { nowMs, circuitEffects } = transaction;
    const circuits = await transaction.circuits({ isFresh: true });
    if (mode === 'shadow') {
      if (beginShadow(circuits, nowMs)) log.warn('mode.shadow', { problem: 'SERVICE_MODE=shadow: nothing is sent' });
      return { shadowSinceMs: circuits.open.shadow?.sinceMs ?? nowMs, isContradicted: false };
    }
    const { shadow } = circuits.open;
    if (!shadow) return LIVE;
    if (await isShadowRunning(tools)) {
      log.warn('mode.contradicted', {
        problem:
          'this process runs with SERVICE_MODE=live and another one with shadow: nothing is sent until all agree',
      });
      return { shadowSinceMs: shadow.sinceMs, isContradicted: true };
    }
    // Far ahead of now, the circuit was opened by a clock that jumped.
    const isNew = Math.abs(nowMs - shadow.sinceMs) < FIRST_HEARTBEAT_MS;
    if (isNew) return { shadowSinceMs: shadow.sinceMs, isContradicted: false };
    endShadow(circuits, circuitEffects);
    log.warn('mode.live', { problem: 'shadow mode has ended: what is recorded from now on is sent' });
    return LIVE;
  });
}

/**
 * True in a shadow time, which is that of the installation: also for a process in live mode, while another one keeps the
 * circuit open.
 */
export async function isShadowTime(
  transaction: Pick<Transaction, 'circuits'>,
  mode: ServiceMode | undefined,
): Promise<boolean> {
  return mode === 'shadow' || (await transaction.circuits()).open.shadow !== undefined;
}

const LIVE: CommonMode = { shadowSinceMs: null, isContradicted: false };

async function isShadowRunning({ processes }: ModeTools): Promise<boolean> {
  return (await processes.list()).some(({ mode, isSilent }) => mode === 'shadow' && !isSilent);
}
