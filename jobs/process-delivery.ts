import type { DeliveryJob, JobOutcome } from '../src/contracts/ops/jobs';
import type { WebhookReaders } from '../src/contracts/webhook/read-webhook';
import type { Delivery, DeferredDelivery } from '../src/domain/webhook/delivery';
import { UnusableRecord } from '../src/domain/outbox/unusable-record';
import { failingDeliveryTask } from '../src/domain/ops/tasks';
import type { DeliveryKind } from '../src/domain/vocabulary';
import type { Clock } from '../src/platform/clock';
import { errorFacts } from '../src/platform/errors';
import type { Log } from '../src/platform/log/log';
import type { Metrics } from '../src/platform/log/metrics';
import type { Tracing } from '../src/platform/log/tracing';
import type { DeliveryStore } from '../src/workflow/ports';
import { processMessage, type MessageVerdict } from '../src/workflow/webhook/process-message';
import { orderKeyOf, type RecordStore } from '../src/workflow/transaction-port';

export interface ProcessDeliveryTools {
  readonly records: RecordStore;
  readonly deliveries: Pick<DeliveryStore, 'read'>;
  /** What a webhook must be to be acted on. */
  readonly readers: WebhookReaders;
  /** Defers a delivery after a failure. */
  readonly defer: (id: string) => Promise<DeferredDelivery>;
  /** True for an error of Redis that may be over later. */
  readonly isTransient: (error: unknown) => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Throttled by `error`: while Redis is in trouble, all deliveries fail in the same way. */
  readonly transientLog: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /**
   * Called with the body of a webhook after its first run that succeeded. At most once: not after a run without a reply of
   * Redis.
   */
  readonly observe: (kind: DeliveryKind, rawBody: string) => void;
}

/** The verdict on a delivery; `settled_before`: another worker processed it. */
export type DeliveryVerdict = MessageVerdict | 'settled_before' | 'gone';

interface Processed {
  readonly verdict: DeliveryVerdict;
  /** Null when it is gone. */
  readonly delivery: Pick<Delivery, 'kind' | 'towingReferenceId' | 'rawBody'> | null;
  /** How long ago it was received, ms; null unless this was its first run that succeeded. */
  readonly sinceReceivedMs: number | null;
}

/** A delivery that failed without being counted as failed is older than this when it succeeds. */
const FAILED_BEFORE_MS = 10_000;

/** Processes deliveries: creates a tow, attaches an invoice or parks it, or keeps what breaks the contract. */
export async function processDeliveries(payload: DeliveryJob, tools: ProcessDeliveryTools): Promise<JobOutcome> {
  const verdicts = await Promise.all(payload.delivery_ids.map((id) => processDelivery(id, tools)));
  return { kind: 'done', what: [...new Set(verdicts)].join(', ') };
}

/**
 * Processes one delivery, or defers it after a failure. Idempotent. Never rejects, so that the others of the job
 * continue.
 */
async function processDelivery(id: string, tools: ProcessDeliveryTools): Promise<DeliveryVerdict | 'deferred'> {
  const { clock, log, metrics } = tools;
  const startedMs = clock.monotonicMs();
  try {
    const { verdict, delivery, sinceReceivedMs } = await processInTransaction(id, tools);
    const { kind = null, towingReferenceId = null } = delivery ?? {};
    if (delivery && sinceReceivedMs !== null) tools.observe(delivery.kind, delivery.rawBody);
    const level = verdict === 'settled_before' ? 'debug' : 'info';
    log[level]('delivery.processed', { delivery_id: id, kind, towing_reference_id: towingReferenceId, verdict });
    const tookMs = clock.monotonicMs() - startedMs;
    metrics.deliveryProcessed(kind, verdict, sinceReceivedMs === null ? null : sinceReceivedMs + tookMs);
    if (towingReferenceId !== null && verdict !== 'settled_before') {
      tools.tracing.ended({
        subject: { kind: 'tow', id: towingReferenceId },
        name: `process ${kind}`,
        place: 'later',
        kind: 'queued',
        endedAtMs: clock.nowMs(),
        durationMs: tookMs,
        isFailed: false,
        attributes: { verdict, waited_ms: sinceReceivedMs },
      });
    }
    return verdict;
  } catch (error) {
    if (error instanceof UnusableRecord) {
      // Its schedule makes it due again, perhaps for a process that can use the record.
      log.warn('delivery.needs_newer', { delivery_id: id, error: error.message });
      return 'deferred';
    }
    await deferFailed(id, error, tools);
    return 'deferred';
  }
}

/** Defers a failed delivery. The line is an error from the failure on that opens a task; before, retries may end it. */
async function deferFailed(id: string, error: unknown, tools: ProcessDeliveryTools): Promise<void> {
  const { defer, isTransient, log, transientLog } = tools;
  const { failures, needsPerson } = await defer(id).catch(
    // It is due again by its schedule. Without a count of its failures no task opens.
    (cause: unknown) => ({ failures: null, needsPerson: !isTransient(cause) }),
  );
  const fields = { delivery_id: id, failures, ...errorFacts(error) };
  if (needsPerson) log.error('delivery.failed', fields);
  else (isTransient(error) ? transientLog : log).warn('delivery.failed', { ...fields, stack: undefined });
}

/** True once a run of the delivery has succeeded, also after it is replayed. */
function hasSucceeded({ parkedAtMs, processedAtMs, differenceId }: Delivery): boolean {
  return parkedAtMs !== null || processedAtMs !== null || differenceId !== null;
}

/** Processes a delivery and its tow in one commit. */
async function processInTransaction(
  id: string,
  { records, deliveries, readers }: ProcessDeliveryTools,
): Promise<Processed> {
  // The read gives the order key. A repeated decision reads again.
  let known = await deliveries.read(id);
  const orderKey = known ? orderKeyOf('tow', known.towingReferenceId) : orderKeyOf('delivery', id);
  return records.transact(orderKey, async (transaction) => {
    const delivery = await transaction.delivery(id, known);
    known = null;
    if (!delivery) {
      transaction.scheduleDelivery(id, null);
      return { verdict: 'gone', delivery: null, sinceReceivedMs: null };
    }
    const { state, receivedAtMs, failures } = delivery;
    const isFirst = !hasSucceeded(delivery);
    if (state === 'processed') {
      transaction.scheduleDelivery(id, null);
      return { verdict: 'settled_before', delivery, sinceReceivedMs: null };
    }
    const sinceReceivedMs = isFirst ? transaction.nowMs - receivedAtMs : null;
    const verdict = await processMessage(transaction, { delivery, isFirst }, readers);
    // The general task about a delivery that could not be read, or whose tow could not.
    if (failures > 0 || transaction.nowMs - receivedAtMs > FAILED_BEFORE_MS) {
      await transaction.closeGeneralTask(failingDeliveryTask(id).subject);
    }
    // A delivery that differs waits in the list of its kind.
    if (verdict === 'differs') transaction.scheduleDelivery(id, null);
    return { verdict, delivery, sinceReceivedMs };
  });
}
