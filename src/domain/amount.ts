import { westernNumber } from './numerals';

/** Amounts in SAR as text, in the spellings that systems and people use. */

const PLAIN = /^-?\d+(\.\d+)?$/;
/** Groups of three digits, such as `1,150` and `12,345,678.90`. A comma before other than three digits is ambiguous. */
const GROUPED = /^-?\d{1,3}(,\d{3})+(\.\d+)?$/;

/**
 * The amount as plain decimal text: `1,150.00`, `١٬١٥٠٫٠٠` and ` 1150.00 ` become `1150.00`. Null for other text, such as
 * `12,50` or `12.50 SAR`.
 */
export function plainAmount(text: string): string | null {
  const number = westernNumber(text.trim()).replaceAll('٬', ',');
  if (PLAIN.test(number)) return number;
  return GROUPED.test(number) ? number.replaceAll(',', '') : null;
}
