import { guideViolationAnswer, violationAnswer } from '../src/contracts/service';
import type { CallResult, ViolationOperation } from '../src/workflow/service-port';
import type { ViolationResult } from '../src/workflow/violation-port';

/** What the service calls the violation it took, by either creation path; null when it took none or did not say. */
export function nameIn({ data }: CallResult<ViolationOperation>): ViolationResult['named'] {
  if (data === null) return null;
  const reference = violationAnswer.safeParse(data);
  if (reference.success) {
    const { violation_reference_id, status } = reference.data;
    return { reference: violation_reference_id, serviceStatus: status, canTow: null };
  }
  const guide = guideViolationAnswer.safeParse(data);
  // Open question Q15: whether the guide form's `id` is the violation_reference_id of webhooks is not documented; we take it for that.
  return guide.success ? { reference: guide.data.id, serviceStatus: null, canTow: guide.data.canTow } : null;
}
