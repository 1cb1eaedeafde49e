import type { DeliveryJob } from '../src/contracts/jobs';
import type { DeliveryKind } from '../src/domain/vocabulary';
import type { Clock } from '../src/platform/clock';
import { errorFacts, type Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import type { DeliveryStore, Wake } from '../src/workflow/ports';
import { takeInvoice } from '../src/workflow/take-invoice';
import { takeTowRequest } from '../src/workflow/take-tow-request';
import { lineOfDelivery, lineOfTow, type RecordStore } from '../src/workflow/transaction-port';
import type { Outcome } from './outcome';

export interface ProcessDeliveryTools {
  readonly records: RecordStore;
  readonly deliveries: Pick<DeliveryStore, 'read'>;
  readonly wake: Wake;
  /** Puts a delivery off after a failure; resolves with how often it has failed in a row, null if it cannot be read. */
  readonly defer: (id: string) => Promise<number | null>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What processing a delivery led to; `settled_before`: another worker did it, before or meanwhile. */
export type Verdict =
  'created' | 'already_known' | 'rival_kept' | 'attached' | 'parked' | 'set_aside' | 'late' | 'settled_before' | 'gone';

interface Processed {
  readonly verdict: Verdict;
  /** Null when it is gone, like the tow. */
  readonly kind: DeliveryKind | null;
  readonly towingReferenceId: string | null;
  /** How long ago it had been received, ms; null unless this was the first time it was processed. */
  readonly sinceReceivedMs: number | null;
  /** Deliveries that are due because of it. */
  readonly unparked: readonly string[];
}

const GONE: Processed = { verdict: 'gone', kind: null, towingReferenceId: null, sinceReceivedMs: null, unparked: [] };

/** Turns stored deliveries into what each means: a tow, an invoice on a tow, or a parked invoice. */
export async function processDeliveries(payload: DeliveryJob, tools: ProcessDeliveryTools): Promise<Outcome> {
  const verdicts = await Promise.all(payload.delivery_ids.map((id) => processDelivery(id, tools)));
  return { kind: 'done', what: [...new Set(verdicts)].join(', ') };
}

/** Processes one delivery, or puts it off when that fails. Idempotent. Never rejects: the others of a job go on. */
async function processDelivery(id: string, tools: ProcessDeliveryTools): Promise<Verdict | 'deferred'> {
  const { clock, log, metrics, wake } = tools;
  const startedMs = clock.monotonicMs();
  try {
    const { verdict, kind, towingReferenceId, sinceReceivedMs, unparked } = await take(id, tools);
    unparked.forEach((parked) => wake.delivery(parked));
    if (verdict === 'attached' && towingReferenceId !== null) wake.tow(towingReferenceId);
    const level = verdict === 'settled_before' ? 'debug' : 'info';
    log[level]('delivery.processed', { delivery_id: id, kind, towing_reference_id: towingReferenceId, verdict });
    const tookMs = clock.monotonicMs() - startedMs;
    metrics.deliveryProcessed(kind, verdict, sinceReceivedMs === null ? null : sinceReceivedMs + tookMs);
    return verdict;
  } catch (error) {
    // What cannot even be put off comes up again by its schedule.
    const failures = await tools.defer(id).catch(() => null);
    log.error('delivery.failed', { delivery_id: id, failures, ...errorFacts(error) });
    return 'deferred';
  }
}

/** Decides on a delivery and its tow in one commit. */
async function take(id: string, { records, deliveries }: ProcessDeliveryTools): Promise<Processed> {
  // Tells whose line it waits in. A decision that is made again reads it again.
  let known = await deliveries.read(id);
  const line = known ? lineOfTow(known.towingReferenceId) : lineOfDelivery(id);
  return records.transact(line, async (transaction) => {
    const delivery = await transaction.delivery(id, known);
    known = null;
    if (!delivery) {
      transaction.scheduleDelivery(id, null);
      return GONE;
    }
    const { kind, towingReferenceId, state, parkedAtMs, replays, receivedAtMs } = delivery;
    const about = { kind, towingReferenceId, unparked: [], sinceReceivedMs: null };
    if (state === 'processed') {
      transaction.scheduleDelivery(id, null);
      return { ...about, verdict: 'settled_before' };
    }
    const isFirst = state === 'waiting' && parkedAtMs === null && replays === 0;
    const sinceReceivedMs = isFirst ? transaction.nowMs - receivedAtMs : null;
    const tow = await transaction.tow(towingReferenceId);
    const taken =
      kind === 'tow_request'
        ? await takeTowRequest(transaction, delivery, tow)
        : { verdict: await takeInvoice(transaction, delivery, tow) };
    return { ...about, sinceReceivedMs, ...taken };
  });
}
