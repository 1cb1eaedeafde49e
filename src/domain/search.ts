import { searchText } from './entered-text';
import { plateKey, reversedPlateKey } from './tow/plate';
import type { Tow } from './tow/tow';
import { metadataIdOf, type Violation } from './violation/violation';

/**
 * Search terms of tows and violations: references, the operator's own ids, the plate in either script, invoice
 * numbers. A search matches the beginning of a term.
 */

/** The terms to store for a tow. */
export function searchTerms(tow: Tow): string[] {
  const ownId = tow.metadata?.['id'];
  const invoiceNumbers = tow.invoiceWebhooks.flatMap(({ towingInvoice, delayInvoice }) => [
    towingInvoice['invoice_number'],
    delayInvoice?.['invoice_number'],
  ]);
  const values = [tow.towingReferenceId, tow.violationReferenceId, ownId, ...invoiceNumbers];
  // The service may send a number where its document has text.
  const texts = values.map((value) => (typeof value === 'number' ? String(value) : value));
  const terms = texts.filter((text): text is string => typeof text === 'string' && text !== '').map(textTerm);
  if (tow.plateNumber !== null) terms.push(...plateTerms(tow.plateNumber));
  return [...new Set(terms)];
}

/** The terms to store for a violation. `reference` is the service's reference, once known. */
export function violationSearchTerms(violation: Violation, reference: string | null): string[] {
  const values = [violation.id, metadataIdOf(violation), ...(reference === null ? [] : [reference])];
  return [...new Set([...values.map(textTerm), ...plateTerms(violation.form.plateNumber)])];
}

/** As long as a reference may be. A record keeps its earlier terms, so longer ones would slow down every change of it. */
const TERM_LENGTH_MAX = 200;

/** The term of a reference, id or number. It has no line feed, which ends a term in the index. */
export function textTerm(text: string): string {
  return `word:${searchText(text).slice(0, TERM_LENGTH_MAX).toWellFormed()}`;
}

/** The prefixes of terms that match a typed search. */
export function searchPrefixes(typed: string): string[] {
  if (searchText(typed) === '') return [];
  const key = plateKey(typed);
  return [textTerm(typed), ...(key === '' ? [] : [`plate:${key}`])];
}

/**
 * The terms of a plate. A Saudi plate has one with its letters first and one with its digits first: people read it in
 * either order, and often know its digits only.
 */
function plateTerms(plate: string): string[] {
  const key = plateKey(plate);
  const reversed = reversedPlateKey(key);
  return [key, ...(reversed === null ? [] : [reversed])].map((found) => `plate:${found}`);
}
