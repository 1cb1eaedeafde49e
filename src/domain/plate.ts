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

/** One spelling of a plate for both scripts: Latin lower case, western digits, no spaces or dashes. */
export function plateKey(plate: string): string {
  return Array.from(westernDigits(plate.toLowerCase()))
    .map((character) => LATIN_LETTERS[character] ?? character)
    .join('')
    .replaceAll(/[\s\-_.]/g, '');
}

/** True for what a plate of Saudi Arabia looks like, in either script. */
export function looksSaudi(plate: string): boolean {
  return SAUDI_PLATE.test(plateKey(plate));
}

/** Arabic and Persian digits as 0-9; all else stays. */
export function westernDigits(text: string): string {
  return Array.from(text).map(westernDigit).join('');
}

function westernDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x660 && code <= 0x669) return String(code - 0x660);
  if (code >= 0x6f0 && code <= 0x6f9) return String(code - 0x6f0);
  return character;
}
