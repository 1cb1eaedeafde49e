import { z } from 'zod';
import { ENTRY_KINDS, ROLES } from '../../domain/vocabulary';
import { jsonObject } from '../common';

/** A stored audit entry without its texts. Its action is any text, since entries outlive the version that wrote them. */
export const auditEntry = z.object({
  action: z.string(),
  by_id: z.string(),
  role: z.enum(ROLES),
  on: z.object({
    towing_reference_id: z.string().optional(),
    report_id: z.string().optional(),
    violation_id: z.string().optional(),
    hold_id: z.string().optional(),
    photo_id: z.string().optional(),
    queue: z.string().optional(),
    task_id: z.string().optional(),
    delivery_id: z.string().optional(),
    difference_id: z.string().optional(),
    key_id: z.string().optional(),
    subscription_id: z.string().optional(),
    operation: z.enum(ENTRY_KINDS).optional(),
  }),
  what: jsonObject,
});

/** Beside it: what may name a person. */
export const auditTexts = z.object({ by: z.string(), why: z.string().nullable() });

/** An entry as the API shows it. */
export const auditView = z.object({ seq: z.number(), at: z.string(), ...auditEntry.shape, ...auditTexts.shape });
export type AuditView = z.infer<typeof auditView>;

/** A noted head of the chain: `<seq>:<hash>`. */
export const notedHead = z
  .string()
  .regex(/^[1-9]\d{0,15}:[0-9a-f]{40}$/, 'must be <seq>:<hash>, as printed by an earlier check')
  .transform((text) => {
    const [seq, hash = ''] = text.split(':');
    return { seq: Number(seq), hash };
  });
