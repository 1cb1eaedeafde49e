/** Plates and numbers as people write them, in Arabic or Latin script (field-notes, "Saudi Arabia"). */

const LATIN_LETTERS: Readonly<Record<string, string>> = {
  ا: 'a',
  أ: 'a',
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
  ى: 'v',
  ي: 'v',
};

/** Up to 4 digits and up to 3 of the 17 letters, either of them first. */
const SAUDI_PLATE = /^(?:\d{1,4}[abdeghjklnrstuvxz]{1,3}|[abdeghjklnrstuvxz]{1,3}\d{1,4})$/;

/** What says nothing about a plate: spaces and dashes, and the stroke that only makes an Arabic letter longer. */
const IGNORED = /[\s\-_.\u0640]/g;

/** One spelling of a plate for both scripts: Latin lower case, western digits, no spaces or dashes. */
export function plateKey(plate: string): string {
  return Array.from(westernDigits(plate.toLowerCase()))
    .map((character) => LATIN_LETTERS[character] ?? character)
    .join('')
    .replaceAll(IGNORED, '');
}

/** The letters of a plate as plates show them in Arabic script. */
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

/** One plate as people read it in each script. */
export interface BothScripts {
  readonly latin: string;
  readonly arabic: string;
}

/**
 * A plate of Saudi Arabia in both scripts, letters spaced (`A B J 1234`, `ا ب ح ١٢٣٤`), its parts in the order they were
 * entered in; null for any other plate. Both have the `plateKey` of the plate itself.
 */
export function bothScripts(plate: string): BothScripts | null {
  const key = plateKey(plate);
  if (!SAUDI_PLATE.test(key)) return null;
  // Digits stay together, each letter stands alone.
  const parts = key.match(/\d+|[a-z]/g) ?? [];
  const isNumber = (part: string) => /^\d/.test(part);
  return {
    latin: parts.map((part) => part.toUpperCase()).join(' '),
    arabic: parts.map((part) => (isNumber(part) ? arabicDigits(part) : (ARABIC_LETTERS[part] ?? part))).join(' '),
  };
}

/** True for what a plate of Saudi Arabia looks like, in either script. */
export function looksSaudi(plate: string): boolean {
  return SAUDI_PLATE.test(plateKey(plate));
}

/** Arabic and Persian digits as 0-9; all else stays. */
export function westernDigits(text: string): string {
  return Array.from(text).map(westernDigit).join('');
}

/** 0-9 as Arabic digits. */
function arabicDigits(digits: string): string {
  return Array.from(digits, (digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
}

function westernDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x660 && code <= 0x669) return String(code - 0x660);
  if (code >= 0x6f0 && code <= 0x6f9) return String(code - 0x6f0);
  return character;
}
