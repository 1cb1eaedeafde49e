import { z } from 'zod';
import { jsonFaults, jsonIn } from '../../domain/json';
import { timesNamed, type EnteredMetadata } from '../../domain/violation/violation';
import { metadata, METADATA_LEVELS_MAX } from '../common';

/**
 * Entered metadata (docs/service-api.md#violation-form): parsed for its id, and sent as the verbatim text. Numbers
 * and names that cannot be represented here stay intact.
 */

export const METADATA_TEXT_MAX = 16_384;
const NOT_A_NAME = 'must be text that is not blank';

/** The id matches a violation with the service's messages about it, so it is never trimmed. */
export const metadataId = z
  .string()
  .max(METADATA_TEXT_MAX)
  .refine((id) => id.trim() !== '', NOT_A_NAME)
  // Redis stores every lone surrogate as the same character, so two ids would be one.
  .refine((id) => id.isWellFormed(), 'must be well-formed Unicode text');
const object = metadata.refine(({ id }) => typeof id !== 'string' || metadataId.safeParse(id).success, {
  path: ['id'],
});

export const metadataText = z
  .string()
  .trim()
  .max(METADATA_TEXT_MAX)
  .transform((text, context): EnteredMetadata => {
    const refuse = (message: string, path: string[] = []) => {
      context.addIssue({ code: 'custom', message, path });
      return z.NEVER;
    };
    // The receiver refuses the same faults in the tow request that echoes the metadata.
    const { isTooDeep, infinite } = jsonFaults(text, METADATA_LEVELS_MAX);
    if (isTooDeep) return refuse(`must not be nested deeper than ${METADATA_LEVELS_MAX} levels`);
    const value = jsonIn(text);
    if (value === undefined) return refuse('must be JSON');
    if (infinite.length > 0) {
      for (const path of infinite) refuse('must be a finite number', [path]);
      return z.NEVER;
    }
    const checked = object.safeParse(value);
    if (checked.success) {
      return timesNamed('id', text) > 1 ? refuse('must be given once', ['id']) : { text, value: checked.data };
    }
    for (const { path } of checked.error.issues)
      refuse(path.length > 0 ? NOT_A_NAME : 'must be an object', path.map(String));
    return z.NEVER;
  });
