import { z } from 'zod';
import { plateText, severalLines, text } from '../../domain/input-schemas';
import { newViolationReference, violationTime } from '../common';
import { violationForm } from '../service/service';
import { metadataId } from './violation-metadata';

/** Violations that other software has reported: known here, so that tows find plate and place, and never sent. */

const TEXT_MAX = 1000;
const { shape } = violationForm;

const fields = z.strictObject({
  /** As the service gave it. */
  violation_reference_id: newViolationReference.optional(),
  /** The `id` in the metadata that was sent to the service, which echoes it exactly. */
  metadata_id: metadataId.optional(),
  plateNumber: plateText(),
  location: severalLines(text(TEXT_MAX)),
  latitude: shape.latitude,
  longitude: shape.longitude,
  plateType: shape.plateType.optional(),
  zoneId: shape.zoneId.optional(),
  violationType: shape.violationType.optional(),
  date: violationTime.optional(),
});
/** The names of the fields, in the order of the columns of an import. */
export const KNOWN_FIELDS = fields.keyof().options;

/** One violation. It needs a name by which a tow request may refer to it. */
export const knownViolation = fields.refine(
  (given) => given.violation_reference_id !== undefined || given.metadata_id !== undefined,
  { path: ['violation_reference_id'], error: 'is required, or metadata_id' },
);
export type KnownViolation = z.output<typeof knownViolation>;

const KNOWN_VIOLATIONS_MAX = 100;

export const knownViolationsBody = z.strictObject({
  violations: z.array(knownViolation).min(1).max(KNOWN_VIOLATIONS_MAX),
});

const KNOWN_RESULTS = ['created', 'already_known', 'conflict'] as const;

/** One result per violation, in the same order. */
export const knownViolationsView = z.object({
  items: z.array(
    z.object({
      /** Our id of the violation. */
      id: z.string(),
      /** `already_known`, `conflict`: a violation with one of these names is here, and nothing has changed. */
      result: z.enum(KNOWN_RESULTS),
      /** Of a conflict: the given fields that the violation with this name has otherwise, or not at all. */
      fields: z.array(z.string()).optional(),
    }),
  ),
});
export type KnownViolationsView = z.infer<typeof knownViolationsView>;

/** A row of a CSV file to import: its cells by the names of their columns. */
export const importedCells = z.record(z.string(), z.string());
