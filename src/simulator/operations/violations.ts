import { z } from 'zod';
import { OPERATIONS } from '../../contracts/operations';
import { IMAGES_TOTAL_BYTES_MAX } from '../../contracts/service';
import { decodeForm, readFields } from '../fields';
import { REFUSALS } from '../refusals';
import type { ImageSummary } from '../world';
import type { Handler } from './handling';

// Whether a zone identifier is valid is told by `Zone not found` (service-api 7.1), not by the form's own rules.
const form = OPERATIONS.violation.request.extend({ zoneId: z.string() });
const guideForm = OPERATIONS.violation_guide.request.extend({ zoneId: z.string() });

/** Violations that a missing or ended ticket settles; every other kind is in the way and can be towed. */
const TICKET_VIOLATIONS: ReadonlySet<string> = new Set(['NO_TICKET', 'TICKET_ENDED', 'USER_EXCEED_PARKING_TIME']);

/** Create violation (service-api 4.1). */
export const violation: Handler = ({ fields, images }, { world, towableReported }) => {
  const decoded = decodeForm(textFields(fields), form);
  const read = readFields(decoded, { schema: form, zones: world });
  if ('refusal' in read) return read;
  if (totalBytes(images) > IMAGES_TOTAL_BYTES_MAX) return { refusal: REFUSALS.imagesTooLarge, field: 'images' };
  const { plateNumber, violationType, metadata = null } = read.value;
  const created = world.reportViolation({ plateNumber, metadata, form: { fields: read.value, images } });
  if (canTow(violationType)) towableReported(created);
  return { data: { violation_reference_id: created.reference, status: 'PENDING', metadata: metadata ?? {} } };
};

/** Create violation, guide form (service-api 4.5); its errors are taken from 7.1. */
export const violationGuide: Handler = ({ fields, images }, { world, towableReported }) => {
  const read = readFields(textFields(fields), {
    schema: guideForm,
    zones: world,
  });
  if ('refusal' in read) return read;
  if (totalBytes(images) > IMAGES_TOTAL_BYTES_MAX) return { refusal: REFUSALS.imagesTooLarge, field: 'images' };
  const { plateNumber, violationType } = read.value;
  const created = world.reportViolation({ plateNumber, metadata: null, form: { fields: read.value, images } });
  if (canTow(violationType)) towableReported(created);
  return { data: { id: created.reference, canTow: canTow(violationType) } };
};

function canTow(violationType: string): boolean {
  return !TICKET_VIOLATIONS.has(violationType);
}

function textFields(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

function totalBytes(images: readonly ImageSummary[]): number {
  return images.reduce((total, image) => total + image.size, 0);
}
