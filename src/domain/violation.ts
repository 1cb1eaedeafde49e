import { z } from 'zod';
import { isObject } from './json';
import type { FieldRule } from './refusal';
import { storedRecord } from './stored';
import type { JsonObject, PlateType, ViolationApi, ViolationType } from './vocabulary';

/**
 * A parking violation as the operator reports it. The entered values are sent trimmed and, but for characters that
 * are not visible, unchanged; only a correction changes the form.
 */
export interface Violation {
  /** Our own id. */
  readonly id: string;
  /** The creation operation, decided when it was reported. */
  readonly api: ViolationApi;
  /** The fields of the form by their wire names (docs/service-api.md#violation-form); always with `metadata.id`. */
  readonly form: ViolationForm;
  /** The metadata as the text that is sent. */
  readonly metadataText: string;
  readonly images: readonly ViolationImage[];
  /** Earlier images that a correction replaced, oldest first. Their files stay until the violation is settled. */
  readonly replacedImages?: readonly ReplacedImage[] | undefined;
  /** Fields that look wrong but are allowed: shown, never a reason not to send. */
  readonly warnings: readonly FieldRule[];
  /** When it was reported, ISO 8601 UTC. */
  readonly createdAt: string;
  /** The name of the API key that reported it. */
  readonly by: string;
}

/** docs/service-api.md#violation-form. */
export interface ViolationForm {
  readonly date?: string | undefined;
  readonly latitude: number;
  readonly longitude: number;
  readonly location: string;
  readonly plateNumber: string;
  /** This field, `zoneId` and `violationType` may be absent from a violation that other software reported. */
  readonly plateType?: PlateType | undefined;
  readonly zoneId?: string | undefined;
  readonly imagesDescription?: string | undefined;
  readonly violationType?: ViolationType | undefined;
  readonly isSaudi?: boolean | undefined;
  readonly metadata: JsonObject;
  readonly fullName?: string | undefined;
  readonly identityNumber?: string | undefined;
  readonly mobileNumber?: string | undefined;
  readonly supervisorFullName?: string | undefined;
  readonly supervisorIdentityNumber?: string | undefined;
  readonly supervisorMobileNumber?: string | undefined;
}

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

/** The numbers of the images of which a part is missing, counted from 1. */
export function damagedNumbers(images: readonly ViolationImage[]): number[] {
  return images.flatMap(({ isDamaged }, index) => (isDamaged === true ? [index + 1] : []));
}

/** An image that a correction replaced. */
export interface ReplacedImage extends ViolationImage {
  /** When, ISO 8601 UTC, and by the API key of this name. */
  readonly replacedAt: string;
  readonly replacedBy: string;
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
