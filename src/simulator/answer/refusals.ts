import type { DocumentedRefusal } from '../../contracts/service/operations';

/** The documented errors (docs/service-api.md#errors), verbatim, and that of a rate limit, which is "not shown". */
export const REFUSALS = {
  missingField: { httpStatus: 400, message: 'Missing required field' },
  invalidEnum: { httpStatus: 400, message: 'Invalid enum value' },
  zoneNotFound: { httpStatus: 400, message: 'Zone not found' },
  imagesTooLarge: { httpStatus: 400, message: 'Image size exceeds limit' },
  unauthorized: { httpStatus: 401, message: 'Unauthorized' },
  plateNotFound: { httpStatus: 404, message: 'Plate number not found' },
  violationNotFound: { httpStatus: 404, message: 'Violation not found' },
  tooManyRequests: { httpStatus: 429, message: 'Too Many Requests' },
  serverError: { httpStatus: 500, message: 'Internal Server Error' },
} as const satisfies Record<string, DocumentedRefusal>;

/** A refused call; `field` names the wrong field, for the log only. */
export interface RefusedCall {
  readonly refusal: DocumentedRefusal;
  readonly field?: string;
}
