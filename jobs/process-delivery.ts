import type { DeliveryJob } from '../src/contracts/jobs';
import { errorFacts, type Log } from '../src/platform/log';
import type { Metrics } from '../src/platform/metrics';
import { processDelivery as intake, type IntakeTools } from '../src/workflow/intake';
import type { Outcome } from './outcome';

export interface ProcessDeliveryTools extends IntakeTools {
  /** Puts the delivery off after an unexpected failure; says how often it has failed. */
  readonly defer: (deliveryId: string) => Promise<number>;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Makes of one stored delivery what it means: a tow, an invoice on a tow, or a parked invoice. */
export async function processDelivery(payload: DeliveryJob, tools: ProcessDeliveryTools): Promise<Outcome> {
  const deliveryId = payload.delivery_id;
  try {
    const { verdict, kind, towingReferenceId } = await intake(tools, deliveryId);
    const which = { delivery_id: deliveryId, kind, towing_reference_id: towingReferenceId };
    tools.log.info('delivery.processed', { ...which, verdict });
    tools.metrics.deliveryProcessed(kind ?? 'none', verdict);
    return { kind: 'done', what: verdict };
  } catch (error) {
    const failures = await tools.defer(deliveryId);
    tools.log.error('delivery.failed', { delivery_id: deliveryId, failures, ...errorFacts(error) });
    return { kind: 'done', what: 'deferred' };
  }
}
