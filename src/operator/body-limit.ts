/** A body of JSON may be so large, over HTTP and within the process. */
export const BODY_LIMIT_BYTES = 100_000;
