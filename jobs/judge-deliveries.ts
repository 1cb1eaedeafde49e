import { judgementJobId, type JobOutcome } from '../src/contracts/jobs';
import { UnusableRecord } from '../src/domain/unusable-record';
import { errorFacts } from '../src/platform/errors';
import { advanceJudgement, type JudgementTools } from '../src/workflow/judge-again';
import { processDelivery, type ProcessDeliveryTools } from './process-delivery';

export type JudgeDeliveriesTools = ProcessDeliveryTools & Pick<JudgementTools, 'judgements'>;

/** A run gives way to other work after this long. */
const RUN_MS = 5000;
const SLICE = 20;

/**
 * Judges the deliveries of one kind of difference again, one after the other in order of receipt. A delivery that is
 * acted on leaves the list in the commit of its effect, so a second worker or a repetition does nothing twice. After a
 * delivery that fails, later ones of the same tow are left for the next run. One that cannot be decoded is left too, and
 * its tow is not known. Rejects while Redis is away.
 */
export async function judgeDeliveries(differenceId: string, tools: JudgeDeliveriesTools): Promise<JobOutcome> {
  const { judgements, clock, log } = tools;
  const startedMs = clock.monotonicMs();
  const failedTows = new Set<string>();
  do {
    // Each slice comes after the effects of the one before.
    // oxlint-disable-next-line eslint/no-await-in-loop
    const slice = await judgements.next(differenceId, SLICE);
    if (!slice) return { kind: 'done', what: 'no run' };
    for (const id of slice.deliveryIds) {
      // oxlint-disable-next-line eslint/no-await-in-loop
      const ref = await towOf(id, tools);
      if (ref === null || failedTows.has(ref)) continue;
      // oxlint-disable-next-line eslint/no-await-in-loop
      if ((await processDelivery(id, tools)) === 'deferred') failedTows.add(ref);
    }
    // oxlint-disable-next-line eslint/no-await-in-loop
    if (!(await advanceJudgement(tools, differenceId, slice))) {
      log.info('judgement.ended', { difference_id: differenceId, failed_tows: failedTows.size });
      return { kind: 'done', what: 'judged' };
    }
  } while (clock.monotonicMs() - startedMs < RUN_MS);
  return { kind: 'continue', what: 'continue', ref: judgementJobId(differenceId) };
}

/** The tow of a delivery; null when the delivery is gone or cannot be used. One that cannot be decoded opens a task. */
async function towOf(
  id: string,
  { deliveries, defer, isTransient, log }: JudgeDeliveriesTools,
): Promise<string | null> {
  try {
    return (await deliveries.read(id))?.towingReferenceId ?? null;
  } catch (error) {
    // A read that fails for Redis shows nothing about the delivery, and the next run repeats it.
    if (isTransient(error)) throw error;
    if (!(error instanceof UnusableRecord)) {
      // The failures of a delivery that can be decoded are counted: the fault is in this program.
      const { failures } = await defer(id);
      if (failures !== null) throw error;
    }
    log.error('judgement.delivery_unusable', { delivery_id: id, ...errorFacts(error) });
    return null;
  }
}
