import type { FieldRule } from './refusal';
import type { JsonObject, PlateType, ViolationApi, ViolationType } from './vocabulary';

/**
 * A parking violation as the operator reports it. What a person or a program entered is sent as it was entered, trimmed;
 * only a correction by a person changes the form.
 */
export interface Violation {
  /** Our own name of it. */
  readonly id: string;
  /** Which creation path it goes by, decided when it was taken in. */
  readonly api: ViolationApi;
  /** The fields of the form by their names on the wire (service-api 2.1); always with `metadata.id`. */
  readonly form: ViolationForm;
  /** The metadata as the text that is sent, with all that was entered; records of old have none, and send their value. */
  readonly metadataText?: string | undefined;
  readonly images: readonly ViolationImage[];
  /** What looks wrong and is not forbidden by the service's document: shown, never a reason not to send. */
  readonly warnings: readonly FieldRule[];
  /** When it was taken in, ISO 8601 UTC. */
  readonly createdAt: string;
  /** The name of the API key that reported it. */
  readonly by: string;
}

/** service-api 2.1. */
export interface ViolationForm {
  readonly date?: string | undefined;
  readonly latitude: number;
  readonly longitude: number;
  readonly location: string;
  readonly plateNumber: string;
  readonly plateType: PlateType;
  readonly zoneId: string;
  readonly imagesDescription?: string | undefined;
  readonly violationType: ViolationType;
  readonly isSaudi?: boolean | undefined;
  readonly metadata: JsonObject;
  readonly fullName?: string | undefined;
  readonly identityNumber?: string | undefined;
  readonly mobileNumber?: string | undefined;
  readonly supervisorFullName?: string | undefined;
  readonly supervisorIdentityNumber?: string | undefined;
  readonly supervisorMobileNumber?: string | undefined;
}

/** One image of a violation, kept in the spool until the service has it. */
export interface ViolationImage {
  /** The file's name below the spool folder of its violation. */
  readonly file: string;
  /** As it was uploaded; it goes to the service under this name. */
  readonly name: string;
  /** By its bytes, whatever the upload claimed. */
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** Violations for which a valid ticket is the whole question: the check before a fine is about these. */
const TICKET_TYPES: readonly ViolationType[] = ['NO_TICKET', 'TICKET_ENDED'];

/** True when an active ticket would speak against this violation. */
export function dependsOnTicket(form: ViolationForm): boolean {
  return TICKET_TYPES.includes(form.violationType);
}

/** The id that the service echoes with everything it says about this violation. */
export function metadataIdOf(violation: Violation): string {
  const id = violation.form.metadata['id'];
  return typeof id === 'string' ? id : violation.id;
}

/** What a tow takes over from its violation. */
export function whereaboutsOf({ form }: Violation) {
  return {
    plateNumber: form.plateNumber,
    towedLocation: form.location,
    latitude: form.latitude,
    longitude: form.longitude,
    zoneId: form.zoneId,
    violationType: form.violationType,
  };
}
