import { z } from 'zod';

/** Fields that several bodies of the operator API share. */

/** Trimmed text that is not empty. */
export const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

/** Text of one line. */
export const oneLine = (schema: z.ZodString) =>
  schema.refine((value) => !/\p{Cc}/u.test(value), 'must not contain control characters');

/** Text that may have several lines, broken in either way. */
export const severalLines = (schema: z.ZodString) =>
  schema.refine(
    (value) => !/\p{Cc}/u.test(value.replaceAll(/\r?\n/g, '')),
    'must not contain control characters other than line breaks',
  );

/** Why a person did something; for the audit, never sent to the service. */
export const reason = text(500);

export const latitude = z.number().min(-90).max(90);
export const longitude = z.number().min(-180).max(180);
