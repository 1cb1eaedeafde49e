import type { DeliveryJob } from '../src/contracts/jobs';
import type { Clock } from '../src/platform/clock';
import { errorFacts, type Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import { processDelivery as intake, type IntakeResult, type IntakeTools } from '../src/workflow/intake';
import type { Outcome } from './outcome';

export interface ProcessDeliveryTools extends IntakeTools {
  /** Puts the delivery off after an unexpected failure; resolves with how often it has failed, null if it cannot be read. */
  readonly defer: (delivery: { id: string; towingReferenceId: string }) => Promise<number | null>;
  /** Takes a delivery off the schedule that is settled or gone. */
  readonly dropDue: (deliveryId: string) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Turns stored deliveries into what each means: a tow, an invoice on a tow, or a parked invoice. */
export async function processDeliveries(payload: DeliveryJob, tools: ProcessDeliveryTools): Promise<Outcome> {
  const verdicts = await Promise.all(payload.delivery_ids.map((id) => processDelivery(id, tools)));
  return { kind: 'done', what: [...new Set(verdicts)].join(', ') };
}

async function processDelivery(id: string, tools: ProcessDeliveryTools): Promise<string> {
  const startedMs = tools.clock.monotonicMs();
  try {
    const result = await intake(tools, id);
    if (result.verdict === 'gone' || result.verdict === 'settled_before') await tools.dropDue(id);
    note(id, { ...result, tookMs: tools.clock.monotonicMs() - startedMs }, tools);
    return result.verdict;
  } catch (error) {
    // A record that cannot be read is put off too, without the name of its tow.
    const delivery = await tools.deliveries.read(id).catch(() => null);
    const named = { id, towingReferenceId: delivery?.towingReferenceId ?? '' };
    // The others of the job go on. What cannot even be put off comes up again by its schedule.
    const failures = await tools.defer(named).catch(() => null);
    tools.log.error('delivery.failed', { delivery_id: id, failures, ...errorFacts(error) });
    return 'deferred';
  }
}

function note(id: string, result: IntakeResult & { readonly tookMs: number }, { log, metrics }: ProcessDeliveryTools) {
  const { verdict, kind, towingReferenceId, sinceReceivedMs, tookMs } = result;
  const level = verdict === 'settled_before' ? 'debug' : 'info';
  log[level]('delivery.processed', { delivery_id: id, kind, towing_reference_id: towingReferenceId, verdict });
  metrics.deliveryProcessed(kind, verdict, sinceReceivedMs === null ? null : sinceReceivedMs + tookMs);
}
