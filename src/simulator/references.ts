import type { Clock } from '../platform/clock';

const SUFFIX_LENGTH = 6;
const SUFFIXES = 36 ** SUFFIX_LENGTH;

export interface ReferenceSource {
  readonly clock: Clock;
  /** Whether the world already uses a reference. */
  readonly isTaken: (reference: string) => boolean;
}

/**
 * A reference nobody has yet, as service-api 2.4 and 2.5 show it: `<prefix>-<yyyymmdd>-<6 character suffix>`, the day in
 * UTC, the suffix of capital letters and digits.
 */
export function newReference(prefix: 'V' | 'TW' | 'INV', { clock, isTaken }: ReferenceSource): string {
  const day = new Date(clock.nowMs()).toISOString().slice(0, 10).replaceAll('-', '');
  // A taken suffix is stepped over instead of drawn again, so that a clock with fixed randomness still ends.
  for (let number = Math.floor(clock.random() * SUFFIXES); ; number = (number + 1) % SUFFIXES) {
    const suffix = number.toString(36).toUpperCase().padStart(SUFFIX_LENGTH, '0');
    const reference = `${prefix}-${day}-${suffix}`;
    if (!isTaken(reference)) return reference;
  }
}

const PLATE_LETTERS = 'ABDEGHJKLNRSTUVXZ';

/** A made-up plate of three letters of the national alphabet and four digits. */
export function newPlate(clock: Clock): string {
  const letter = () => PLATE_LETTERS.charAt(Math.floor(clock.random() * PLATE_LETTERS.length));
  const number = 1000 + Math.floor(clock.random() * 9000);
  return `${letter()}${letter()}${letter()} ${number}`;
}
