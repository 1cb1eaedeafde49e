import type { BudgetName } from '../contracts/service/operations';
import { startAge, type Clock } from '../platform/clock';
import { errorName } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { pause } from '../platform/timers';
import type { Budgets, CallOptions, Reservation } from '../workflow/service/service-port';
import type { SendPermission } from './attempt';

export type Denied = Extract<SendPermission, { readonly granted: false }>;

/** The rate limit permits of one call and the time it may wait for them, over all its attempts. */
export interface CallPermits {
  /**
   * Starts an attempt. Returns a denial that is known before a connection is opened: an earlier call found that no
   * permit comes within the remaining wait.
   */
  startAttempt(): Denied | null;
  /** Takes the permit of the attempt, on its open connection. May wait; never rejects. */
  take(): Promise<SendPermission>;
  /** Ends an attempt: a permit that came with the call is not used for the next one. */
  endAttempt(): void;
  /** True once the permit that came with the call was exchanged for another one, or may have been. */
  isExchanged(): boolean;
}

/** How long a call waits for its permits by default: well within the lease of a claim. */
const WAIT_MS = 2000;
/** Without an answer about the rate limit the call is not made: it could exceed a limit of the service. */
const UNANSWERED: Reservation = { granted: false, inMs: 1000 };
/** How many permits one send may let expire. With more, this process is too busy to send at all. */
const PERMITS_PER_SEND_MAX = 3;

/** Rate limit permits from the budgets that all processes share. */
export function createPermits(tools: { budgets: Budgets; clock: Clock; log: Log; timeoutMs: number }) {
  const { budgets, clock, log, timeoutMs } = tools;
  const reserve = async (
    ...[budget, aheadMaxMs, insteadOfMs]: Parameters<Budgets['reserve']>
  ): Promise<Reservation> => {
    try {
      return await budgets.reserve(budget, aheadMaxMs, insteadOfMs);
    } catch (error) {
      log.warn('budget.failed', { budget, error_name: errorName(error) });
      return UNANSWERED;
    }
  };
  const exhaustedUntilMs = new Map<BudgetName, number>();
  const denied = (inMs: number): Denied => ({ granted: false, notBeforeMs: clock.nowMs() + inMs });

  /**
   * Takes a permit, waiting at most `leftMs`. A process that froze while it held a permit takes another one, because a
   * call that leaves late counts in another minute than its permit did. `exchange` names a permit that the first one
   * replaces; `onDone` is called when it did, or when that is unknown.
   */
  async function take(
    budget: BudgetName,
    leftMs: () => number,
    exchange: { readonly atMs: number | undefined; readonly onDone: () => void },
  ): Promise<SendPermission> {
    for (let nth = 1; nth <= PERMITS_PER_SEND_MAX; nth += 1) {
      // The permit is counted after this, so it is not older.
      const ageMs = startAge(clock);
      const permit = await reserve(budget, leftMs(), nth === 1 ? exchange.atMs : undefined);
      if (permit.granted || permit === UNANSWERED) exchange.onDone();
      if (!permit.granted) {
        exhaustedUntilMs.set(budget, clock.monotonicMs() + permit.inMs);
        return denied(permit.inMs);
      }
      if (permit.inMs > 0) await pause(permit.inMs);
      if (ageMs() < permit.inMs + permit.lastsMs) return { granted: true };
    }
    return { granted: false, notBeforeMs: null };
  }

  /** The permits of one call; its wait budget starts now. */
  return function permitsOf(
    budget: BudgetName,
    { maySend = () => true, permit, permitWaitMs }: CallOptions,
  ): CallPermits {
    const wait = startWaitBudget(clock, permitWaitMs ?? WAIT_MS);
    let claimed = permit;
    let isExchanged = false;
    let deadlineMs = 0;
    // Half of the remaining time of the attempt is reserved for its answer.
    const leftMs = () => Math.max(0, Math.min(wait.leftMs(), (deadlineMs - clock.monotonicMs()) / 2));
    const claimedOrNew = async (): Promise<SendPermission> => {
      if (claimed?.isFresh() === true) return { granted: true };
      const onDone = () => void (isExchanged ||= claimed !== undefined);
      return take(budget, leftMs, { atMs: claimed?.atMs, onDone });
    };
    return {
      startAttempt() {
        const inMs = (exhaustedUntilMs.get(budget) ?? -Infinity) - clock.monotonicMs();
        if (!claimed && inMs > wait.leftMs()) return denied(inMs);
        deadlineMs = clock.monotonicMs() + timeoutMs;
        wait.pause();
        return null;
      },
      async take() {
        wait.resume();
        const permission = await claimedOrNew();
        wait.pause();
        return permission.granted && !(await maySend()) ? { granted: false, notBeforeMs: null } : permission;
      },
      endAttempt() {
        wait.resume();
        claimed = undefined;
      },
      isExchanged: () => isExchanged,
    };
  };
}

/** How long one call may still wait before its bytes leave: for its token and for its permits, ms. Starts now. */
function startWaitBudget(clock: Pick<Clock, 'monotonicMs'>, totalMs: number) {
  let endsAtMs = clock.monotonicMs() + totalMs;
  let pausedAtMs: number | null = null;
  return {
    leftMs: () => Math.max(0, endsAtMs - (pausedAtMs ?? clock.monotonicMs())),
    /** Opening a connection and the call itself do not count as waiting. */
    pause() {
      pausedAtMs ??= clock.monotonicMs();
    },
    resume() {
      if (pausedAtMs !== null) endsAtMs += clock.monotonicMs() - pausedAtMs;
      pausedAtMs = null;
    },
  };
}
