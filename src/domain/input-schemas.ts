import { z } from 'zod';
import { visibleText } from './entered-text';
import { sensitive } from './sensitive';

/** Schemas of what people enter. */

/** Trimmed text that is not empty. */
export const text = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .refine((value) => value === '' || visibleText(value) !== '', 'must not be empty')
    .max(max, `must be at most ${max} characters`)
    .refine((value) => value.isWellFormed(), 'must be well-formed Unicode text');

export const oneLine = (schema: z.ZodString) =>
  schema.refine((value) => !/\p{Cc}/u.test(value), 'must not contain control characters');

/**
 * A plate as a person enters it, trimmed. A new schema per field, because a sensitive mark applies to one schema object.
 * Open question Q14: length and format of a plate are not documented; anything that is not absurd is taken.
 */
export const plateText = () => sensitive(oneLine(text(50)));
/** A plate without invisible characters, where nothing is stored, or a timeline has old and new values. */
export const visiblePlateText = () => sensitive(oneLine(text(50)).overwrite(visibleText));

/** Text that may contain line breaks, `\n` or `\r\n`. */
export const severalLines = (schema: z.ZodString) =>
  schema.refine(
    (value) => !/\p{Cc}/u.test(value.replaceAll(/\r?\n/g, '')),
    'must not contain control characters other than line breaks',
  );

/** The reason of a person; for the audit, never sent to the service. */
export const reason = text(500).describe('reason for the audit log; never sent to the service');

export const latitude = z.number().min(-90).max(90).describe('degrees, from -90 to 90');
export const longitude = z.number().min(-180).max(180).describe('degrees, from -180 to 180');
