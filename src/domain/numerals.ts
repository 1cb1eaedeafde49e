/** Digits in Arabic, Persian and western script. */

/** Replaces Arabic and Persian digits by 0-9. */
export function westernDigits(text: string): string {
  return Array.from(text).map(westernDigit).join('');
}

/** A number as text with western digits and a decimal point: `٢٤٫٧١` becomes `24.71`. */
export function westernNumber(text: string): string {
  return westernDigits(text).replaceAll('٫', '.');
}

/** Replaces 0-9 by Arabic digits. */
export function arabicDigits(digits: string): string {
  return Array.from(digits, (digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
}

function westernDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x660 && code <= 0x669) return String(code - 0x660);
  if (code >= 0x6f0 && code <= 0x6f9) return String(code - 0x6f0);
  return character;
}

/** Texts of numbers in digits. `Number` would also read others, such as `0x10`, `1e3` and an empty text. */
export const WHOLE_NUMBER = /^-?\d+$/;
export const DECIMAL_NUMBER = /^-?(\d+\.?\d*|\.\d+)$/;
