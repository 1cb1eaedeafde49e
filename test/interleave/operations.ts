import { z } from 'zod';

/** What a process is asked to do with the one tow of a story, and what it answers. */

export const FACTS = ['detained', 'invoice', 'payment', 'released', 'canceled'] as const;
/** How an attempt ended. Not sent: it surely had no effect, and neither has what is refused. */
export const OUTCOMES = ['accepted', 'refused', 'unknown', 'not_sent'] as const;
export const DECISIONS = ['retry', 'correct', 'accept', 'waive'] as const;

const ref = z.string();

export const operation = z.discriminatedUnion('do', [
  z.object({ do: z.literal('say'), ref, event: z.enum(FACTS) }),
  z.object({ do: z.literal('decide'), ref, reportId: z.string(), action: z.enum(DECISIONS) }),
  /** Stores an invoice webhook, which proves a create. */
  z.object({ do: z.literal('receive'), ref, id: z.string() }),
  /** Processes a stored webhook. */
  z.object({ do: z.literal('attach'), ref, id: z.string() }),
  /** `isLost`: the lease of the claim is over at once. */
  z.object({ do: z.literal('claim'), ref, isLost: z.boolean() }),
  /** Stores how an attempt of this process ended, and claims the next report when `goesOn`. */
  z.object({ do: z.literal('settle'), ref, attemptId: z.string(), outcome: z.enum(OUTCOMES), goesOn: z.boolean() }),
]);
export type CoreOperation = z.infer<typeof operation>;

const claimed = z.object({
  kind: z.string(),
  /** What may be sent, and under which right. */
  reportId: z.string().nullable(),
  attemptId: z.string().nullable(),
});
export type Granted = z.infer<typeof claimed>;

/** `kind` in the words of the product; `next`: what a claim gave. */
export const answer = z.object({ kind: z.string(), next: claimed.nullable() });
export type Answer = z.infer<typeof answer>;

export const question = z.object({ id: z.number(), operation });
export const reply = z.object({ id: z.number(), answer: answer.nullable(), error: z.string().nullable() });
