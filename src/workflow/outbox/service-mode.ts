import { beginShadow, endShadow } from '../../domain/outbox/shadow';
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
  readonly shadowSinceMs: number | null;
  /** True when this process runs in live mode, and another one in shadow mode. */
  readonly isContradicted: boolean;
}

/** A process in shadow mode opens the circuit before its first heartbeat, which comes within this time. */
const FIRST_HEARTBEAT_MS = 5000;

/** The log events, with their text. */
const PROBLEMS = {
  'mode.shadow': 'SERVICE_MODE=shadow: nothing is sent',
  'mode.contradicted':
    'this process runs with SERVICE_MODE=live and another one with shadow: nothing is sent until all agree',
  'mode.live': 'shadow mode has ended: what is recorded from now on is sent',
} as const;

interface Agreed {
  readonly common: CommonMode;
  /** The event for the log; null for none. */
  readonly event: keyof typeof PROBLEMS | null;
}

/** Opens or closes the circuit if this process may. Rejects when Redis does not answer. */
export async function agreeOnMode(tools: ModeTools): Promise<CommonMode> {
  const { records, log } = tools;
  // A decision may be repeated or not be committed, so it logs nothing itself.
  const last: { event: Agreed['event'] } = { event: null };
  const logEvent = () => {
    if (last.event !== null) log.warn(last.event, { problem: PROBLEMS[last.event] });
  };
  try {
    const common = await records.transact(CIRCUITS_ORDER_KEY, async (transaction) => {
      const agreed = await decide(transaction, tools);
      last.event = agreed.event;
      return agreed.common;
    });
    logEvent();
    return common;
  } catch (error) {
    // Without a reply the change may be done, and the next look finds nothing to change.
    if (!records.isUnwritten(error)) logEvent();
    throw error;
  }
}

async function decide(transaction: Transaction, tools: ModeTools): Promise<Agreed> {
  const { nowMs, circuitEffects } = transaction;
  const circuits = await transaction.circuits({ isFresh: true });
  if (tools.mode === 'shadow') {
    const event = beginShadow(circuits, nowMs) ? 'mode.shadow' : null;
    return { common: { shadowSinceMs: circuits.open.shadow?.sinceMs ?? nowMs, isContradicted: false }, event };
  }
  const { shadow } = circuits.open;
  if (!shadow) return { common: LIVE, event: null };
  if (await isShadowRunning(tools)) {
    return { common: { shadowSinceMs: shadow.sinceMs, isContradicted: true }, event: 'mode.contradicted' };
  }
  // Far ahead of now, the circuit was opened by a clock that jumped.
  const isNew = Math.abs(nowMs - shadow.sinceMs) < FIRST_HEARTBEAT_MS;
  if (isNew || !tools.areOthersKnown()) {
    return { common: { shadowSinceMs: shadow.sinceMs, isContradicted: false }, event: null };
  }
  endShadow(circuits, circuitEffects);
  return { common: LIVE, event: 'mode.live' };
}

/**
 * True in a shadow time, which is that of the installation: also for a process in live mode, while another one keeps the
 * circuit open.
 */
export async function isShadowTime(transaction: Pick<Transaction, 'circuits'>, mode: ServiceMode): Promise<boolean> {
  return mode === 'shadow' || (await transaction.circuits()).open.shadow !== undefined;
}

const LIVE: CommonMode = { shadowSinceMs: null, isContradicted: false };

async function isShadowRunning({ processes }: ModeTools): Promise<boolean> {
  return (await processes.list()).some(({ mode, isSilent }) => mode === 'shadow' && !isSilent);
}
