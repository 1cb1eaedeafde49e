import type { OutboxRecord } from '../src/domain/outbox/outbox-record';
import { startAge, type Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log/log';
import { pause, untilRead, within } from '../src/platform/timers';
import type { Claimed, Outbox } from '../src/workflow/outbox/outbox-port';

/** The lease of a call. */
interface HeldLease {
  /**
   * Whether the first byte of the call may leave now. The lease is confirmed in Redis first if it was confirmed more than a
   * second ago by either clock: the machine may have slept meanwhile.
   */
  readonly maySend: () => Promise<boolean>;
  /** Renews the lease of a call that may outlast it, until `end`. */
  readonly keepRenewed: () => RenewedLease;
}

interface RenewedLease {
  /** Aborts when the lease is lost, or ends soon and cannot be renewed: the call must end. */
  readonly lost: AbortSignal;
  /** False when the lease may be lost, also while that is not noticed yet because the machine slept. */
  readonly mayGoOn: () => boolean;
  /** Ends the renewals. */
  readonly end: () => void;
}

/** A younger lease need not be confirmed. */
const CONFIRMED_AFTER_MS = 1000;
/** Parts of a lease: it is renewed after 30 %, tried again after 5 %, and counts as lost at 90 %. */
const RENEWED_AFTER = 0.3;
const TRIED_AGAIN_AFTER = 0.05;
const LOST_AFTER = 0.9;

/** The calls with images of a worker. */
export interface Uploads {
  /** Within this time such a call ends, with its second attempt after a refused token, ms. */
  readonly maxMs: number;
  /** Called after each renewal within that time: the call is slow and does not hang. */
  readonly onRenewed: () => void;
}

interface LeaseTools<R extends OutboxRecord> {
  readonly outbox: Outbox<R>;
  readonly claimMaxAgeMs: number;
  readonly uploads?: Uploads;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Holds the lease of a claim during its call. A renewal is one commit. While it is renewed, no other worker may take the
 * record, and once that fails, this worker stops the call before another one may.
 * @param claimAgeMs how long ago the claim began, ms.
 */
export function holdLease<R extends OutboxRecord>(
  claimed: Claimed<R>,
  claimAgeMs: () => number,
  { outbox, claimMaxAgeMs, uploads, clock, log }: LeaseTools<R>,
): HeldLease {
  const { leaseMs } = claimed;
  /** How long ago the lease was last confirmed, ms. */
  let ageMs = claimAgeMs;

  /** False when the lease is lost; null without an answer within `limitMs`. */
  const renew = async (limitMs: number): Promise<boolean | null> => {
    const askedAgeMs = startAge(clock);
    const renewal = await within(limitMs, outbox.renew(claimed));
    if (renewal?.value === true) ageMs = askedAgeMs;
    return renewal?.value ?? null;
  };

  const keepRenewed = (): RenewedLease => {
    const lost = new AbortController();
    const ended = new AbortController();
    const run = async () => {
      let waitMs = leaseMs * RENEWED_AFTER - ageMs();
      for (;;) {
        await pause(Math.max(0, waitMs), ended.signal);
        if (ended.signal.aborted) return;
        const leftMs = leaseMs * LOST_AFTER - ageMs();
        const isRenewed = leftMs > 0 ? await renew(leftMs) : null;
        if (ended.signal.aborted) return;
        if (isRenewed === true) {
          waitMs = leaseMs * RENEWED_AFTER;
          if (uploads && claimAgeMs() < uploads.maxMs) uploads.onRenewed();
        } else if (isRenewed === false || ageMs() >= leaseMs * LOST_AFTER) {
          // An answer may have arrived in a freeze of this process, after which timers run before sockets are read.
          await untilRead();
          if (ended.signal.aborted) return;
          log.warn('lease.lost', { attempt_id: claimed.attemptId, answered: isRenewed !== null });
          return lost.abort();
        } else {
          waitMs = leaseMs * TRIED_AGAIN_AFTER;
        }
      }
    };
    void run();
    return { lost: lost.signal, mayGoOn: () => ageMs() < leaseMs * LOST_AFTER, end: () => ended.abort() };
  };

  return {
    async maySend() {
      if (ageMs() >= claimMaxAgeMs) return false;
      if (ageMs() >= CONFIRMED_AFTER_MS && (await renew(claimMaxAgeMs)) !== true) return false;
      return ageMs() < claimMaxAgeMs;
    },
    keepRenewed,
  };
}
