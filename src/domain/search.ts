import { plateKey } from './plate';
import type { Tow } from './tow';
import { metadataIdOf, type Violation } from './violation';

/**
 * The words under which a tow or a violation is found: references, the operator's own ids, the plate in either script,
 * invoice numbers. A search finds by the beginning of a word.
 */

export { plateKey } from './plate';

/** The words to store for a tow as it stands. */
export function searchTerms(tow: Tow): string[] {
  const ownId = tow.metadata?.['id'];
  const invoiceNumbers = tow.invoiceWebhooks.flatMap(({ towingInvoice, delayInvoice }) => [
    towingInvoice['invoice_number'],
    delayInvoice?.['invoice_number'],
  ]);
  const words = [tow.towingReferenceId, tow.violationReferenceId, ownId, ...invoiceNumbers];
  const terms = words.filter((word): word is string => typeof word === 'string' && word !== '').map(wordTerm);
  if (tow.plateNumber !== null) terms.push(plateTerm(tow.plateNumber));
  return [...new Set(terms)];
}

/** The words to store for a violation; `reference` is the service's name of it, once it is known. */
export function violationSearchTerms(violation: Violation, reference: string | null): string[] {
  const words = [violation.id, metadataIdOf(violation), ...(reference === null ? [] : [reference])];
  return [...new Set([...words.map(wordTerm), plateTerm(violation.form.plateNumber)])];
}

/** The term of a name: found by its beginning, in any case. */
export function wordTerm(word: string): string {
  return `word:${word.toLowerCase()}`;
}

/** The beginnings of stored words that match what a person typed. */
export function searchPrefixes(typed: string): string[] {
  const word = typed.trim().toLowerCase();
  if (word === '') return [];
  return plateKey(word) === '' ? [wordTerm(word)] : [wordTerm(word), plateTerm(word)];
}

function plateTerm(plate: string): string {
  return `plate:${plateKey(plate)}`;
}
