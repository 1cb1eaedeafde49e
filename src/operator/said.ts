import { invalid, type FieldRule, type Refusal } from '../domain/refusal';
import type { ApiRefusal } from '../workflow/operator-port';
import type { GivenImage } from './give-image';

/** What a route says to a call, whichever way the call came. */
export type Said =
  | {
      readonly kind: 'answered';
      readonly httpStatus: number;
      readonly body: unknown;
      /** True when it shows what is shown only once: whoever stands in between keeps no copy. */
      readonly showsSecrets: boolean;
    }
  | { readonly kind: 'image'; readonly image: GivenImage }
  | { readonly kind: 'refused'; readonly refusal: ApiRefusal };

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FieldRule[];
}

/** Something beyond the API stands in the way: the service, or what it was asked. */
export interface Problem {
  readonly httpStatus: number;
  readonly error: ErrorBody;
  /** When to come back, ms from now; null where coming back changes nothing. */
  readonly retryAfterMs: number | null;
}

type Answered = Extract<Said, { kind: 'answered' }>;
export type Refused = Extract<Said, { kind: 'refused' }>;

/** The one table of what the API answers when it says no (design, "Outside face"). */
const STATUS_OF_REFUSAL = { conflict: 409, invalid: 422, forbidden: 403, unknown: 404 } as const;

export function answered(httpStatus: number, body: unknown): Answered {
  return { kind: 'answered', httpStatus, body, showsSecrets: false };
}

export function problem({ httpStatus, error, retryAfterMs }: Problem): Refused {
  const { code, message, details = [] } = error;
  return { kind: 'refused', refusal: { httpStatus, code, message, details, retryAfterMs } };
}

export function refused(httpStatus: number, error: ErrorBody): Refused {
  return problem({ httpStatus, error, retryAfterMs: null });
}

/** A rule forbids what was asked. */
export function refusedBy(refusal: Refusal): Refused {
  return refused(STATUS_OF_REFUSAL[refusal.kind], refusal);
}

/** Fields of a body or a query fail their rules; all of them are named. */
export function invalidFields(details: readonly FieldRule[]): Refused {
  return refusedBy(invalid(details).refusal);
}

export const NOTHING = refused(404, { code: 'not_found', message: 'There is no such thing.' });
export const TOO_LARGE = refused(413, {
  code: 'too_large',
  message: 'The body is larger than this address takes.',
});
