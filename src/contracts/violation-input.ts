import { z } from 'zod';
import { metadata } from './common';
import { text } from './fields';
import { violationForm } from './service';
import { sensitive } from './sensitive';

/**
 * The multipart form that people and programs post (service-api 2.1): every field arrives as text. What comes out is
 * what goes to the service, trimmed. A field left empty was not entered.
 */

const TEXT_MAX = 1000;
const entered = <T extends z.ZodType<unknown, string>>(schema: T) => z.string().trim().max(TEXT_MAX).pipe(schema);
const NOT_A_NUMBER = 'must be a number';
const degrees = <T extends z.ZodNumber>(schema: T) =>
  entered(
    z
      .string()
      .regex(/^[+-]?\d+(\.\d+)?$/, NOT_A_NUMBER)
      .transform(Number)
      .pipe(schema),
  );
const { shape } = violationForm;

const metadataText = z
  .string()
  .max(16_384, 'must be at most 16384 characters')
  .transform((text, context) => {
    try {
      const value: unknown = JSON.parse(text);
      return value;
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
  })
  .pipe(
    metadata.refine((value) => value['id'] === undefined || value['id'] !== '', {
      path: ['id'],
      error: 'must not be empty',
    }),
  );

/** Without an offset a time is taken as it stands: the document asks for ISO 8601 and for no more. */
const isoTime = z.iso.datetime({ offset: true, local: true, error: 'must be an ISO 8601 time' });

const fields = z.strictObject({
  date: entered(isoTime).optional(),
  latitude: degrees(shape.latitude),
  longitude: degrees(shape.longitude),
  location: entered(shape.location),
  plateNumber: sensitive(entered(z.string().min(1).max(50, 'must be at most 50 characters'))),
  plateType: entered(shape.plateType),
  zoneId: entered(shape.zoneId),
  imagesDescription: entered(z.string()).optional(),
  violationType: entered(shape.violationType),
  isSaudi: entered(z.enum(['true', 'false']).transform((text) => text === 'true')).optional(),
  metadata: metadataText.optional(),
  fullName: sensitive(entered(z.string())).optional(),
  identityNumber: sensitive(entered(z.string())).optional(),
  mobileNumber: sensitive(entered(z.string())).optional(),
  supervisorFullName: sensitive(entered(z.string())).optional(),
  supervisorIdentityNumber: sensitive(entered(z.string())).optional(),
  supervisorMobileNumber: sensitive(entered(z.string())).optional(),
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
    location: text(TEXT_MAX),
    plateNumber: sensitive(text(50)),
    plateType: shape.plateType,
    zoneId: shape.zoneId,
    imagesDescription: text(TEXT_MAX),
    violationType: shape.violationType,
    isSaudi: z.boolean(),
    fullName: sensitive(text(TEXT_MAX)),
    identityNumber: sensitive(text(TEXT_MAX)),
    mobileNumber: sensitive(text(TEXT_MAX)),
    supervisorFullName: sensitive(text(TEXT_MAX)),
    supervisorIdentityNumber: sensitive(text(TEXT_MAX)),
    supervisorMobileNumber: sensitive(text(TEXT_MAX)),
  })
  .partial();
