import { z } from 'zod';
import { oneLine, severalLines, text } from './fields';
import { violationForm } from './service';
import { sensitive } from './sensitive';
import { metadataText } from './violation-metadata';

/**
 * The multipart form that people and programs post (service-api 2.1): every field arrives as text. What comes out is
 * what goes to the service, trimmed. A field left empty was not entered.
 */

const TEXT_MAX = 1000;
const PLATE_MAX = 50;
/** One of its own for each field: a mark on one is no mark on another. */
const line = () => oneLine(z.string().trim().max(TEXT_MAX));
const lines = () => severalLines(z.string().trim().max(TEXT_MAX));
const entered = <T extends z.ZodType<unknown, string>>(schema: T) => line().pipe(schema);
const degrees = <T extends z.ZodNumber>(schema: T) =>
  z
    .string({ error: ({ input }) => (input === undefined ? 'is required (number)' : undefined) })
    .trim()
    .regex(/^[+-]?\d{1,50}(\.\d{1,200})?$/, 'must be a number')
    .transform(Number)
    .pipe(schema);
const { shape } = violationForm;

/** Without an offset a time is taken as it stands: the document asks for ISO 8601 and for no more. */
const isoTime = z.iso.datetime({ offset: true, local: true, error: 'must be an ISO 8601 time' });

const fields = z.strictObject({
  date: entered(isoTime).optional(),
  latitude: degrees(shape.latitude),
  longitude: degrees(shape.longitude),
  location: lines().pipe(shape.location),
  plateNumber: sensitive(oneLine(z.string().trim().max(PLATE_MAX)).pipe(shape.plateNumber)),
  plateType: entered(shape.plateType),
  zoneId: entered(shape.zoneId),
  imagesDescription: lines().optional(),
  violationType: entered(shape.violationType),
  isSaudi: entered(z.enum(['true', 'false']).transform((text) => text === 'true')).optional(),
  metadata: metadataText.optional(),
  fullName: sensitive(line()).optional(),
  identityNumber: sensitive(line()).optional(),
  mobileNumber: sensitive(line()).optional(),
  supervisorFullName: sensitive(line()).optional(),
  supervisorIdentityNumber: sensitive(line()).optional(),
  supervisorMobileNumber: sensitive(line()).optional(),
});

/** An image as it was taken in beside the fields. Written by the reader of the form, never by a client. */
export const uploadedImage = z.object({
  file: z.string(),
  name: z.string(),
  contentType: z.string(),
  sizeBytes: z.number(),
  sha256: z.string(),
});

/** The fields of the form from their texts. */
export const violationInput = z.preprocess(
  (given) =>
    typeof given === 'object' && given !== null
      ? Object.fromEntries(
          Object.entries(given).filter(([, value]) => typeof value !== 'string' || value.trim() !== ''),
        )
      : given,
  fields,
);
export type ViolationInput = z.output<typeof violationInput>;

/** The names of the fields, for whoever reads or describes the form. */
export const VIOLATION_FIELDS = fields.shape;

/**
 * New values for the form of a violation that the service has not taken, as JSON; what is left out stays. The id in its
 * metadata never changes.
 */
export const violationCorrection = z
  .strictObject({
    date: z.string().trim().pipe(isoTime),
    latitude: shape.latitude,
    longitude: shape.longitude,
    location: severalLines(text(TEXT_MAX)),
    plateNumber: sensitive(oneLine(text(PLATE_MAX))),
    plateType: shape.plateType,
    zoneId: shape.zoneId,
    imagesDescription: severalLines(text(TEXT_MAX)),
    violationType: shape.violationType,
    isSaudi: z.boolean(),
    fullName: sensitive(oneLine(text(TEXT_MAX))),
    identityNumber: sensitive(oneLine(text(TEXT_MAX))),
    mobileNumber: sensitive(oneLine(text(TEXT_MAX))),
    supervisorFullName: sensitive(oneLine(text(TEXT_MAX))),
    supervisorIdentityNumber: sensitive(oneLine(text(TEXT_MAX))),
    supervisorMobileNumber: sensitive(oneLine(text(TEXT_MAX))),
  })
  .partial();
