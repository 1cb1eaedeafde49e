import type { Refusal } from '../../../domain/refusal';
import type { Failure } from '../../answers';

const HTTP_STATUS = { conflict: 409, invalid: 422, forbidden: 403, unknown: 404 } as const satisfies Record<
  Refusal['kind'],
  number
>;

/** A refusal of the rules of bulk decisions, as a form shows it: only what a field of its own breaks is told by field. */
export function failureOf(refusal: Refusal, on: Pick<Failure, 'form' | 'entered'>): Failure {
  const { kind, code, message } = refusal;
  const details = code === 'field_invalid' ? refusal.details : [];
  return { ...on, refusal: { code, message, details, httpStatus: HTTP_STATUS[kind], retryAfterMs: null } };
}
