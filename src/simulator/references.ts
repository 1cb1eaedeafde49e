import type { Clock } from '../platform/clock';
import type { ServiceProfile } from './profile';

type ReferenceForm = ServiceProfile['references'];
export type ReferenceKind = 'V' | 'TW' | 'INV';

const SUFFIX_LENGTH = 6;
const RADIX = { text: 36, number: 10 } as const satisfies Record<ReferenceForm, number>;
/** The first digit of references without letters. */
const DIGITS = { V: '1', TW: '2', INV: '3' } as const satisfies Record<ReferenceKind, string>;

export interface ReferenceSource {
  readonly clock: Clock;
  readonly form: ReferenceForm;
  /** Whether a reference is already in use. */
  readonly isTaken: (reference: string) => boolean;
}

/**
 * An unused reference in the format of docs/service-api.md#violation-record and #tow-record:
 * `<kind>-<yyyymmdd>-<suffix>`, the day in UTC, the suffix of 6 capital letters and digits. In the form `number` it has
 * 15 digits: that of the kind, the day and the suffix.
 */
export function newReference(kind: ReferenceKind, { clock, form, isTaken }: ReferenceSource): string {
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10).replaceAll('-', '');
  const suffixes = RADIX[form] ** SUFFIX_LENGTH;
  // A used suffix is incremented instead of drawn again, so that the loop ends with fixed randomness.
  for (let number = Math.floor(clock.random() * suffixes); ; number = (number + 1) % suffixes) {
    const suffix = number.toString(RADIX[form]).toUpperCase().padStart(SUFFIX_LENGTH, '0');
    const reference = form === 'number' ? `${DIGITS[kind]}${day}${suffix}` : `${kind}-${day}-${suffix}`;
    if (!isTaken(reference)) return reference;
  }
}

/** An id for metadata that no operator gave. */
export function newId(clock: Clock, form: ReferenceForm): string {
  return form === 'number' ? String(1 + Math.floor(clock.random() * 1e12)) : clock.id();
}

const PLATE_LETTERS = 'ABDEGHJKLNRSTUVXZ';

/** A random plate of three letters of the national alphabet and four digits. */
export function newPlate(clock: Clock): string {
  const letter = () => PLATE_LETTERS.charAt(Math.floor(clock.random() * PLATE_LETTERS.length));
  const number = 1000 + Math.floor(clock.random() * 9000);
  return `${letter()}${letter()}${letter()} ${number}`;
}
