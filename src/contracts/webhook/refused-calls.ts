import { z } from 'zod';
import { fieldRule } from '../../domain/refusal';
import { REFUSAL_REASONS } from '../../domain/webhook/webhook-answers';
import { pageQuery } from '../paging';

/** What a refused call carried, as far as it was read. */
const BODY_KINDS = ['json', 'form', 'markup', 'text', 'binary', 'empty', 'not_read'] as const;

/**
 * A refused call to the receiver: what shows its cause, without a value that it carried. Names of headers and fields, and
 * parts of the path, that do not look like words of a program are `*`.
 */
export const refusedCall = z.object({
  received_at: z.string(),
  path: z.string(),
  /** The address of the sender, or the network of an IPv6 address. */
  source: z.string(),
  reason: z.enum(REFUSAL_REASONS),
  http_status: z.number(),
  /** The rules that the content breaks. */
  details: z.array(fieldRule),
  header_names: z.array(z.string()),
  /** Bytes as received, or as declared if they were not read; null if unknown. */
  size: z.number().nullable(),
  /** SHA-256 of the body; null if it was not read. */
  body_hash: z.string().nullable(),
  body_kind: z.enum(BODY_KINDS),
  /** The fields of a JSON body and the types of their values. */
  fields: z.array(z.object({ field: z.string(), type: z.string() })),
});
export type KeptRefusal = z.infer<typeof refusedCall>;

export const refusedCallsQuery = z.strictObject({ limit: pageQuery.limit });
