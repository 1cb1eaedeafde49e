/** What people type into forms, as the API takes it. */

/** Fields every form of ours carries beside those of the API (parts/form.tsx). */
export const OWN_FIELDS = ['form_token', 'form_key', 'question'];

export interface EntryRules {
  /** Sent as numbers; what is no number stays text, so that the API names the rule it breaks. */
  readonly numbers?: readonly string[];
  /** Entered as Riyadh time without a zone, sent with its offset. */
  readonly moments?: readonly string[];
  /** Only these, and nothing else that the form may carry. */
  readonly only?: readonly string[];
}

/** The body of a call: what was left empty is left out. */
export function bodyOf(form: URLSearchParams, rules: EntryRules = {}): Record<string, string | number> {
  const body: Record<string, string | number> = {};
  for (const [name, text] of form) {
    const value = text.trim();
    if (value === '' || OWN_FIELDS.includes(name)) continue;
    if (rules.only && !rules.only.includes(name)) continue;
    body[name] = valueOf(name, value, rules);
  }
  return body;
}

function valueOf(name: string, value: string, { numbers = [], moments = [] }: EntryRules): string | number {
  if (numbers.includes(name)) return numberOf(name, value);
  return moments.includes(name) ? momentOf(value) : value;
}

/** A comma begins the decimals of a coordinate (`46,68`); elsewhere it could as well stand between thousands. */
function numberOf(name: string, value: string): string | number {
  const isCoordinate = name === 'latitude' || name === 'longitude';
  const number = Number(isCoordinate ? value.replace(/^(-?\d+),(\d+)$/, '$1.$2') : value);
  return Number.isFinite(number) ? number : value;
}

/** `2026-11-21T09:14` as a browser enters it means Riyadh time (UTC+3 all year); anything else is left for the API to judge. */
export function momentOf(entered: string): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?$/.test(entered) ? `${entered}+03:00` : entered;
}

/** A moment as such a field takes it: Riyadh time to the minute. */
export function fieldMoment(ms: number): string {
  return new Date(ms + 3 * 3_600_000).toISOString().slice(0, 16);
}
