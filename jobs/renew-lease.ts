import type { OutboxRecord } from '../src/domain/outbox-record';
import type { Clock } from '../src/platform/clock';
import type { Log } from '../src/platform/log';
import { pause, untilRead, within } from '../src/platform/timers';
import type { Claimed, Outbox } from '../src/workflow/outbox-port';

/** The lease of a call that may outlast it. */
export interface RenewedLease {
  /** Aborts when the lease is lost, or ends soon and cannot be renewed: the call must end. */
  readonly lost: AbortSignal;
  /** The age of the lease by the monotonic clock, ms. */
  ageMs(): number;
  /** Ends the renewals. */
  end(): void;
}

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

interface LeaseRenewalTools<R extends OutboxRecord> {
  readonly outbox: Outbox<R>;
  readonly uploads?: Uploads;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Renews the lease of a claim until `end`: one commit each time. While it does, no other worker may take the record, and
 * once it fails, this worker stops the call before another one may.
 * @param startedMs when the claim began, by the monotonic clock.
 */
export function keepLeaseRenewed<R extends OutboxRecord>(
  claimed: Claimed<R>,
  startedMs: number,
  { outbox, uploads, clock, log }: LeaseRenewalTools<R>,
): RenewedLease {
  const { leaseMs } = claimed;
  const lost = new AbortController();
  const ended = new AbortController();
  let renewedMs = startedMs;
  const ageMs = () => clock.monotonicMs() - renewedMs;

  const run = async () => {
    let waitMs = leaseMs * RENEWED_AFTER - ageMs();
    for (;;) {
      await pause(Math.max(0, waitMs), ended.signal);
      if (ended.signal.aborted) return;
      const askedMs = clock.monotonicMs();
      const leftMs = leaseMs * LOST_AFTER - ageMs();
      const renewal = leftMs > 0 ? await within(leftMs, outbox.renew(claimed)) : null;
      if (ended.signal.aborted) return;
      if (renewal?.value === true) {
        renewedMs = askedMs;
        waitMs = leaseMs * RENEWED_AFTER;
        if (uploads && askedMs - startedMs < uploads.maxMs) uploads.onRenewed();
      } else if (renewal?.value === false || ageMs() >= leaseMs * LOST_AFTER) {
        // An answer may have arrived in a freeze of this process, after which timers run before sockets are read.
        await untilRead();
        if (ended.signal.aborted) return;
        log.warn('lease.lost', { attempt_id: claimed.attemptId, answered: renewal !== null });
        return lost.abort();
      } else {
        waitMs = leaseMs * TRIED_AGAIN_AFTER;
      }
    }
  };
  void run();
  return { lost: lost.signal, ageMs, end: () => ended.abort() };
}
