import { z } from 'zod';
import { visibleText } from '../../domain/entered-text';
import { westernNumber } from '../../domain/numerals';
import { oneLine, plateText, severalLines, text } from '../../domain/input-schemas';
import { violationTime } from '../common';
import { violationForm } from '../service/service';
import { sensitive } from '../../domain/sensitive';
import { metadataText } from './violation-metadata';

/**
 * The multipart form of a violation (docs/service-api.md#violation-form): every field arrives as text and is
 * trimmed. An empty field counts as missing.
 */

/** The most characters of a text field. */
export const VIOLATION_TEXT_MAX = 1000;
/** A new schema per field, because a sensitive mark applies to one schema object. */
const line = () => oneLine(z.string().trim().max(VIOLATION_TEXT_MAX));
const lines = () => severalLines(z.string().trim().max(VIOLATION_TEXT_MAX));
const entered = <T extends z.ZodType<unknown, string>>(schema: T) => line().overwrite(visibleText).pipe(schema);
const degrees = <T extends z.ZodNumber>(schema: T) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required (number)' : undefined) })
    .trim()
    .overwrite((value) => westernNumber(visibleText(value)))
    .regex(/^[+-]?\d{1,50}(\.\d{1,200})?$/, 'must be a number')
    .transform(Number)
    .pipe(schema);
const { shape } = violationForm;

const fields = z.strictObject({
  date: entered(violationTime).optional(),
  latitude: degrees(shape.latitude),
  longitude: degrees(shape.longitude),
  location: lines().pipe(shape.location),
  plateNumber: plateText(),
  plateType: entered(shape.plateType),
  zoneId: entered(shape.zoneId),
  imagesDescription: lines().optional(),
  violationType: entered(shape.violationType),
  isSaudi: entered(z.enum(['true', 'false']).transform((text) => text === 'true'))
    .optional()
    .describe('true or false'),
  metadata: metadataText.optional().describe('your own data, a JSON object; its id identifies the violation'),
  fullName: sensitive(line()).optional(),
  // Open question Q26: the format of these numbers is not documented; unusual ones get a warning (format-warnings.ts).
  identityNumber: sensitive(line()).optional(),
  mobileNumber: sensitive(line()).optional(),
  supervisorFullName: sensitive(line()).optional(),
  supervisorIdentityNumber: sensitive(line()).optional(),
  supervisorMobileNumber: sensitive(line()).optional(),
});

const withoutEmpty = (given: unknown): unknown =>
  typeof given === 'object' && given !== null
    ? Object.fromEntries(
        Object.entries(given).filter(([, value]) => typeof value !== 'string' || visibleText(value) !== ''),
      )
    : given;

/** The fields of the form, parsed from text. */
export const violationInput = z.preprocess(withoutEmpty, fields);
/** Corrected fields beside new images, parsed from text. Fields that are left out stay. */
export const violationImagesInput = z.preprocess(withoutEmpty, fields.omit({ metadata: true }).partial());
export type ViolationInput = z.output<typeof violationInput>;

/** The fields by name, for reading and describing the form. */
export const VIOLATION_FIELDS = fields.shape;

/**
 * Corrected values of a violation that the service has not accepted, as JSON. Omitted fields stay, and null clears
 * an optional field. The id in its metadata never changes.
 */
export const violationCorrection = z
  .strictObject({
    date: violationTime.nullable(),
    latitude: shape.latitude,
    longitude: shape.longitude,
    location: severalLines(text(VIOLATION_TEXT_MAX)),
    plateNumber: plateText(),
    plateType: shape.plateType,
    zoneId: shape.zoneId,
    imagesDescription: severalLines(text(VIOLATION_TEXT_MAX)).nullable(),
    violationType: shape.violationType,
    isSaudi: z.boolean().nullable(),
    fullName: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
    identityNumber: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
    mobileNumber: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
    supervisorFullName: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
    supervisorIdentityNumber: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
    supervisorMobileNumber: sensitive(oneLine(text(VIOLATION_TEXT_MAX))).nullable(),
  })
  .partial();

/** The fields that a correction may clear. */
export const CLEARABLE_FIELDS: readonly string[] = Object.entries(violationCorrection.shape).flatMap(([name, schema]) =>
  schema.safeParse(null).success ? [name] : [],
);
