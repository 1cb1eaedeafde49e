import type { Refusal } from '../contracts/operations';

/** The documented errors (service-api 7), word for word. */
export const REFUSALS = {
  missingField: { httpStatus: 400, message: 'Missing required field' },
  invalidEnum: { httpStatus: 400, message: 'Invalid enum value' },
  zoneNotFound: { httpStatus: 400, message: 'Zone not found' },
  imagesTooLarge: { httpStatus: 400, message: 'Image size exceeds limit' },
  unauthorized: { httpStatus: 401, message: 'Unauthorized' },
  accessDenied: { httpStatus: 403, message: 'Access denied' },
  plateNotFound: { httpStatus: 404, message: 'Plate number not found' },
  violationNotFound: { httpStatus: 404, message: 'Violation not found' },
  serverError: { httpStatus: 500, message: 'Internal Server Error' },
} as const satisfies Record<string, Refusal>;

/** A call refused; `field` names what was wrong with it, for the log only. */
export interface Refused {
  readonly refusal: Refusal;
  readonly field?: string;
}
