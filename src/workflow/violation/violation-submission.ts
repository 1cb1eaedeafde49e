import { guideViolationForm, violationForm } from '../../contracts/service/service';
import type { Violation } from '../../domain/violation/violation';
import { VIOLATION_OPERATIONS, type ViolationOperation, type ViolationSubmission } from '../service/service-port';

interface SentViolation extends Omit<ViolationSubmission<ViolationOperation>, 'images'> {
  readonly operation: ViolationOperation;
  /** False for the guide form, which takes no images. */
  readonly hasImages: boolean;
}

/**
 * What is sent for a violation: the entered form; of the guide form only its four fields
 * (docs/service-api.md#create-violation-guide).
 */
export function sentViolationOf({ api, form, metadataText }: Violation): SentViolation {
  const operation = VIOLATION_OPERATIONS[api];
  switch (api) {
    case 'reference':
      return { operation, form: violationForm.parse(form), metadataText, hasImages: true };
    case 'guide': {
      const { plateNumber, plateType, zoneId, violationType } = form;
      const guideForm = guideViolationForm.parse({ plateNumber, plateType, zoneId, violationType });
      return { operation, form: guideForm, hasImages: false };
    }
  }
}
