import { invalid, type FieldRule, type Refusal } from '../domain/refusal';
import type { ApiCallRefusal } from '../workflow/operator-port';
import type { ImageSource } from '../workflow/ops/spool-port';

/** What an endpoint answers, independent of the transport of the call. */
export type EndpointResponse =
  | {
      readonly kind: 'answered';
      readonly httpStatus: number;
      readonly body: unknown;
      /** True for a body with a secret that is shown once: no cache may store it. */
      readonly hasSecrets: boolean;
    }
  | { readonly kind: 'image'; readonly image: ImageFile }
  | { readonly kind: 'csv'; readonly csv: CsvText }
  | RefusedResponse;

export interface RefusedResponse {
  readonly kind: 'refused';
  readonly refusal: ApiCallRefusal;
}

/** An image on the disk, and the file name that a browser suggests for it. */
export interface ImageFile {
  readonly source: ImageSource;
  readonly sizeBytes: number;
  readonly name: string;
  readonly contentType: string;
}

/** A CSV that is written as it is read, and the file name that a browser suggests for it. */
export interface CsvText {
  readonly name: string;
  readonly text: AsyncIterable<string>;
}

export interface ApiError {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FieldRule[];
  /** Where to go on reading changes. */
  readonly nextCursor?: string | undefined;
}

/** Kind of a domain refusal → HTTP status. */
const STATUS_OF_REFUSAL = { conflict: 409, invalid: 422, forbidden: 403, unknown: 404 } as const;

export function answered(httpStatus: number, body: unknown): Extract<EndpointResponse, { kind: 'answered' }> {
  return { kind: 'answered', httpStatus, body, hasSecrets: false };
}

/** `retryAfterMs` is null when a retry cannot succeed. */
export function refusedResponse(
  httpStatus: number,
  error: ApiError,
  retryAfterMs: number | null = null,
): RefusedResponse {
  const { code, message, details = [], nextCursor } = error;
  return { kind: 'refused', refusal: { httpStatus, code, message, details, retryAfterMs, nextCursor } };
}

export function refusedByRule(refusal: Refusal): RefusedResponse {
  return refusedResponse(STATUS_OF_REFUSAL[refusal.kind], refusal);
}

export function invalidFields(details: readonly FieldRule[]): RefusedResponse {
  return refusedByRule(invalid(details).refusal);
}

export const NOT_FOUND = refusedResponse(404, { code: 'not_found', message: 'There is nothing with this id.' });

/** Largest JSON body in bytes, over HTTP and in process. */
export const JSON_BODY_BYTES_MAX = 100_000;
export const BODY_TOO_LARGE = refusedResponse(413, {
  code: 'too_large',
  message: `The body is too large. JSON may have at most ${JSON_BODY_BYTES_MAX} bytes.`,
});
