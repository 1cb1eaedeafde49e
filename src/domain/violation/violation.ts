import { z } from 'zod';
import { isObject } from '../json';
import { fieldRule } from '../refusal';
import { sensitive } from '../sensitive';
import { storedList, storedObject, storedRecord } from '../stored';
import { PLATE_TYPES, VIOLATION_APIS, VIOLATION_TYPES, type JsonObject, type ViolationType } from '../vocabulary';

/** docs/service-api.md#violation-form: the fields of the form; images are separate parts. */
export const violationFields = {
  date: z.string().optional(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  location: z.string().min(1),
  plateNumber: sensitive(z.string().min(1)),
  plateType: z.enum(PLATE_TYPES),
  /** Any 8-4-4-4-12 hexadecimal id: the documentation requires a UUID of any version. */
  zoneId: z.guid('must be a UUID'),
  imagesDescription: z.string().optional(),
  violationType: z.enum(VIOLATION_TYPES),
  isSaudi: z.boolean().optional(),
  metadata: storedObject,
  fullName: sensitive(z.string()).optional(),
  identityNumber: sensitive(z.string()).optional(),
  mobileNumber: sensitive(z.string()).optional(),
  supervisorFullName: sensitive(z.string()).optional(),
  supervisorIdentityNumber: sensitive(z.string()).optional(),
  supervisorMobileNumber: sensitive(z.string()).optional(),
};

/** The form as stored and shown: of a violation that other software reported, some fields may be unknown. */
export const keptForm = z.strictObject(violationFields).partial({ plateType: true, zoneId: true, violationType: true });
export type ViolationForm = Readonly<z.output<typeof keptForm>>;

/** The fields of the form about its reporter and supervisor. */
export const PERSON_FIELDS = [
  'fullName',
  'identityNumber',
  'mobileNumber',
  'supervisorFullName',
  'supervisorIdentityNumber',
  'supervisorMobileNumber',
] as const satisfies readonly (keyof ViolationForm)[];

/** An image of a violation, kept in the spool until the service has it. */
export const violationImage = storedRecord({
  /** File name in the folder of its record. */
  file: z.string(),
  /** The uploaded name; sent to the service. */
  name: z.string(),
  /** Detected from its bytes, not from the upload. */
  contentType: z.string(),
  sizeBytes: z.number(),
  sha256: z.string(),
  /** A part of it is missing, and the person accepted that. */
  isDamaged: z.boolean().optional(),
});
export type ViolationImage = Readonly<z.output<typeof violationImage>>;

/** An image that a correction replaced: when, ISO 8601 UTC, and by the API key of which name. */
const replacedImage = violationImage.extend({ replacedAt: z.string(), replacedBy: z.string() });

/**
 * A parking violation as the operator reports it. The entered values are sent trimmed and, but for characters that
 * are not visible, unchanged; only a correction changes the form.
 */
export const violationDocument = storedRecord({
  /** Our own id. */
  id: z.string(),
  /** The creation operation, decided when it was reported. */
  api: z.enum(VIOLATION_APIS),
  /** Always with `metadata.id`. */
  form: keptForm,
  /** The metadata as the text that is sent. */
  metadataText: z.string(),
  images: storedList(violationImage),
  /** Earlier images that a correction replaced, oldest first. Their files stay until the violation is settled. */
  replacedImages: storedList(replacedImage).optional(),
  /** Fields that look wrong but are allowed: shown, never a reason not to send. */
  warnings: storedList(fieldRule),
  /** When it was reported, ISO 8601 UTC. */
  createdAt: z.string(),
  /** The name of the API key that reported it. */
  by: z.string(),
});
export type Violation = Readonly<z.output<typeof violationDocument>>;

/** The numbers of the images of which a part is missing, counted from 1. */
export function damagedNumbers(images: readonly ViolationImage[]): number[] {
  return images.flatMap(({ isDamaged }, index) => (isDamaged === true ? [index + 1] : []));
}

/** Violations that a valid ticket disproves: the ticket check is made for these. */
const TICKET_TYPES: readonly ViolationType[] = ['NO_TICKET', 'TICKET_ENDED'];

/** True when an active ticket contradicts this violation. */
export function dependsOnTicket(form: ViolationForm): boolean {
  return form.violationType !== undefined && TICKET_TYPES.includes(form.violationType);
}

/** The id that the service echoes in everything about this violation. */
export function metadataIdOf(violation: Violation): string {
  const id = violation.form.metadata['id'];
  return typeof id === 'string' ? id : violation.id;
}

/** True when the metadata in an answer has the id of another violation. The guide form sends none that is echoed. */
export function isEchoOfAnother(violation: Violation, metadata: unknown): boolean {
  const id = echoedIdIn(metadata);
  return violation.api !== 'guide' && id !== null && id !== metadataIdOf(violation);
}

/** The id in metadata that the service sends; null without one. */
export function echoedIdIn(metadata: unknown): string | null {
  const id = isObject(metadata) ? metadata['id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** The fields that a tow takes over from its violation. */
export function towFieldsOf({ form }: Violation) {
  return {
    plateNumber: form.plateNumber,
    towedLocation: form.location,
    latitude: form.latitude,
    longitude: form.longitude,
    zoneId: form.zoneId ?? null,
    violationType: form.violationType ?? null,
  };
}

/** Metadata of a violation: parsed, and as the text that is sent. */
export interface EnteredMetadata {
  readonly value: JsonObject;
  /** Trimmed JSON text of an object. */
  readonly text: string;
}

/** Returns the entered metadata if it has an id, else the same text with `id` put in front. */
export function metadataWithId(entered: EnteredMetadata | undefined, id: string): EnteredMetadata {
  if (!entered) return { value: { id }, text: JSON.stringify({ id }) };
  if (entered.value['id'] !== undefined) return entered;
  const members = entered.text.slice(1);
  const comma = members.trim() === '}' ? '' : ',';
  return { value: { ...entered.value, id }, text: `{"id":${JSON.stringify(id)}${comma}${members}` };
}

/**
 * How often the top-level object of a JSON text has a member of this name. JSON parsers disagree on which of two
 * counts.
 */
export function timesNamed(name: string, text: string): number {
  let depth = 0;
  let times = 0;
  for (const [token, string, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (string !== undefined) {
      if (depth === 1 && colon !== undefined && JSON.parse(string) === name) times += 1;
    } else depth += token === '{' || token === '[' ? 1 : -1;
  }
  return times;
}
