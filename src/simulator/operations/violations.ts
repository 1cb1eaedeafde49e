import { z } from 'zod';
import { OPERATIONS } from '../../contracts/service/operations';
import { decodeForm, readFields } from '../fields';
import type { ServiceProfile } from '../profile';
import { REFUSALS, type RefusedCall } from '../answer/faults';
import type { ImageSummary, SimulatedViolation, WireObject } from '../world';
import type { Handling, OperationCall, OperationHandler } from './handling';

// Whether a zone identifier is valid is reported by `Zone not found` (docs/service-api.md#violation-errors), not by the
// form's own rules.
const form = OPERATIONS.violation.request.extend({ zoneId: z.string() });
const guideForm = OPERATIONS.violation_guide.request.extend({ zoneId: z.string() });

/** Violations that are settled with a ticket; vehicles of all other types can be towed. */
const TICKET_VIOLATIONS: ReadonlySet<string> = new Set(['NO_TICKET', 'TICKET_ENDED', 'USER_EXCEED_PARKING_TIME']);

/** Create violation (docs/service-api.md#create-violation). */
export const violation: OperationHandler = (call, handling) => {
  const read = readFields(decodeForm(textFields(call.fields), form), { schema: form, zones: handling.world });
  if ('refusal' in read) return read;
  const { metadata } = read.value;
  const created = report(call, read.value, handling);
  if ('refusal' in created) return created;
  return { data: { violation_reference_id: created.reference, status: 'PENDING', metadata: metadata ?? {} } };
};

/**
 * Create violation, guide form (docs/service-api.md#create-violation-guide); its errors are those of #violation-errors.
 */
export const violationGuide: OperationHandler = (call, handling) => {
  const read = readFields(textFields(call.fields), { schema: guideForm, zones: handling.world });
  if ('refusal' in read) return read;
  const created = report(call, read.value, handling);
  if ('refusal' in created) return created;
  return { data: { id: created.reference, canTow: canTow(read.value.violationType) } };
};

/** Takes a violation, unless its images are wrong. */
function report(
  { images }: OperationCall,
  fields: { readonly plateNumber: string; readonly violationType: string; readonly metadata?: WireObject | undefined },
  { world, profile, towableReported }: Handling,
): SimulatedViolation | RefusedCall {
  const wrongImages = imagesRefusal(images, profile.current);
  if (wrongImages) return wrongImages;
  const { plateNumber, violationType, metadata = null } = fields;
  const created = world.reportViolation({ plateNumber, metadata, form: { fields, images } });
  if (canTow(violationType)) towableReported(created);
  return created;
}

function canTow(violationType: string): boolean {
  return !TICKET_VIOLATIONS.has(violationType);
}

function textFields(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

/** Images travel in the field `images` alone (docs/service-api.md#violation-form); a file elsewhere counts as missing. */
function imagesRefusal(images: readonly ImageSummary[], limits: ServiceProfile): RefusedCall | null {
  if (images.some(({ field }) => field !== 'images')) return { refusal: REFUSALS.missingField, field: 'images' };
  const { images_total_bytes_max: bytesMax, images_count_max: countMax } = limits;
  const isTooMany = countMax !== null && images.length > countMax;
  return isTooMany || totalBytes(images) > bytesMax ? { refusal: REFUSALS.imagesTooLarge, field: 'images' } : null;
}

function totalBytes(images: readonly ImageSummary[]): number {
  return images.reduce((total, image) => total + image.size, 0);
}
