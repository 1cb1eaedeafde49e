import { judgementJobId, type JobOutcome } from '../src/contracts/jobs';
import type { JudgementStore } from '../src/workflow/judgement-port';
import { processDelivery, type ProcessDeliveryTools } from './process-delivery';

export interface JudgeDeliveriesTools extends ProcessDeliveryTools {
  readonly judgements: Pick<JudgementStore, 'next' | 'advance'>;
}

/** A run gives way to other work after this long. */
const RUN_MS = 5000;
const SLICE = 20;

/**
 * Judges the deliveries of one kind of difference again, one after the other in order of receipt. A delivery that is
 * acted on leaves the list in the commit of its effect, so a second worker or a repetition does nothing twice. After a
 * delivery that fails, later ones of the same tow are left for the next run.
 */
export async function judgeDeliveries(differenceId: string, tools: JudgeDeliveriesTools): Promise<JobOutcome> {
  const { judgements, deliveries, clock, log } = tools;
  const startedMs = clock.monotonicMs();
  const failedTows = new Set<string>();
  do {
    // Each slice comes after the effects of the one before.
    // oxlint-disable-next-line eslint/no-await-in-loop
    const slice = await judgements.next(differenceId, SLICE);
    if (!slice) return { kind: 'done', what: 'no run' };
    for (const id of slice.deliveryIds) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      const ref = (await deliveries.read(id))?.towingReferenceId;
      if (ref === undefined || failedTows.has(ref)) continue;
      // oxlint-disable-next-line eslint/no-await-in-loop
      if ((await processDelivery(id, tools)) === 'deferred') failedTows.add(ref);
    }
    // oxlint-disable-next-line eslint/no-await-in-loop
    if (!(await judgements.advance(differenceId, slice))) {
      log.info('judgement.ended', { difference_id: differenceId, failed_tows: failedTows.size });
      return { kind: 'done', what: 'judged' };
    }
  } while (clock.monotonicMs() - startedMs < RUN_MS);
  return { kind: 'continue', what: 'continue', ref: judgementJobId(differenceId) };
}
