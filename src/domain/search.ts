import type { Tow } from './tow';

/**
 * The words under which a tow is found: references, the operator's own id, the plate in either script, invoice numbers.
 * A search finds by the beginning of a word.
 */

const ARABIC_LETTERS: Readonly<Record<string, string>> = {
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

/** One spelling of a plate for both scripts: Latin lower case, western digits, no spaces or dashes. */
export function plateKey(plate: string): string {
  return Array.from(plate.toLowerCase())
    .map((character) => ARABIC_LETTERS[character] ?? westernDigit(character))
    .join('')
    .replaceAll(/[\s\-_.]/g, '');
}

/** The words to store for a tow as it stands. */
export function searchTerms(tow: Tow): string[] {
  const ownId = tow.metadata?.['id'];
  const invoiceNumbers = tow.invoiceWebhooks.flatMap(({ towingInvoice, delayInvoice }) => [
    towingInvoice['invoice_number'],
    delayInvoice?.['invoice_number'],
  ]);
  const words = [tow.towingReferenceId, tow.violationReferenceId, ownId, ...invoiceNumbers];
  const terms = words
    .filter((word): word is string => typeof word === 'string' && word !== '')
    .map((word) => `word:${word.toLowerCase()}`);
  if (tow.plateNumber !== null) terms.push(plateTerm(tow.plateNumber));
  return [...new Set(terms)];
}

/** The beginnings of stored words that match what a person typed. */
export function searchPrefixes(typed: string): string[] {
  const word = typed.trim().toLowerCase();
  if (word === '') return [];
  return plateKey(word) === '' ? [`word:${word}`] : [`word:${word}`, plateTerm(word)];
}

function plateTerm(plate: string): string {
  return `plate:${plateKey(plate)}`;
}

function westernDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code >= 0x660 && code <= 0x669) return String(code - 0x660);
  if (code >= 0x6f0 && code <= 0x6f9) return String(code - 0x6f0);
  return character;
}
