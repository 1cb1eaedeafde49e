import { searchText } from '../entered-text';
import { arabicDigits } from '../numerals';

/** Saudi plates in Arabic or Latin script. */

/** Cyrillic and Greek letters mean the capitals that they look like. */
const LATIN_LETTERS: Readonly<Record<string, string>> = {
  ا: 'a',
  ب: 'b',
  ح: 'j',
  د: 'd',
  ر: 'r',
  س: 's',
  ص: 'x',
  ط: 't',
  ع: 'e',
  ق: 'g',
  ك: 'k',
  ل: 'l',
  م: 'z',
  ن: 'n',
  ه: 'h',
  و: 'u',
  ي: 'v',
  а: 'a',
  в: 'b',
  е: 'e',
  к: 'k',
  н: 'h',
  ѕ: 's',
  т: 't',
  х: 'x',
  α: 'a',
  β: 'b',
  ε: 'e',
  ζ: 'z',
  η: 'h',
  κ: 'k',
  ν: 'n',
  τ: 't',
  χ: 'x',
};

/** 1 to 4 digits and 1 to 3 of the 17 letters, in either order. */
const SAUDI_PLATE = /^(?:\d{1,4}[abdeghjklnrstuvxz]{1,3}|[abdeghjklnrstuvxz]{1,3}\d{1,4})$/;

/** One spelling per plate for both scripts: Latin lower case, western digits; no spaces, dashes or dots. */
export function plateKey(plate: string): string {
  return Array.from(searchText(plate), (character) => LATIN_LETTERS[character] ?? character)
    .join('')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The key of a Saudi plate with letters and digits in the other order; null for the key of any other plate. */
export function reversedPlateKey(key: string): string | null {
  if (!SAUDI_PLATE.test(key)) return null;
  const [digits = ''] = /\d+/.exec(key) ?? [];
  const letters = key.replace(digits, '');
  return key.startsWith(digits) ? `${letters}${digits}` : `${digits}${letters}`;
}

/** Plate letters in Arabic script. */
const ARABIC_LETTERS: Readonly<Record<string, string>> = {
  a: 'ا',
  b: 'ب',
  j: 'ح',
  d: 'د',
  r: 'ر',
  s: 'س',
  x: 'ص',
  t: 'ط',
  e: 'ع',
  g: 'ق',
  k: 'ك',
  l: 'ل',
  z: 'م',
  n: 'ن',
  h: 'هـ',
  u: 'و',
  v: 'ى',
};

/** One plate in each script. */
interface BothScripts {
  readonly latin: string;
  readonly arabic: string;
}

/**
 * A Saudi plate in both scripts, letters spaced (`A B J 1234`, `ا ب ح ١٢٣٤`), in the entered order; null for any
 * other plate. Both texts have the `plateKey` of the plate.
 */
export function bothScripts(plate: string): BothScripts | null {
  const key = plateKey(plate);
  if (!SAUDI_PLATE.test(key)) return null;
  // Digits stay together, letters are separated.
  const parts = key.match(/\d+|[a-z]/g) ?? [];
  const isNumber = (part: string) => /^\d/.test(part);
  return {
    latin: parts.map((part) => part.toUpperCase()).join(' '),
    arabic: parts.map((part) => (isNumber(part) ? arabicDigits(part) : (ARABIC_LETTERS[part] ?? part))).join(' '),
  };
}

/** True for a text in the format of a Saudi plate, in either script. */
export function looksSaudi(plate: string): boolean {
  return SAUDI_PLATE.test(plateKey(plate));
}
