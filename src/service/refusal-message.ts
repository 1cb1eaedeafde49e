/** How much of the service's words is kept. */
const MESSAGE_LENGTH_MAX = 500;
/** How deep words are looked for: `{ error: { errors: [ { message } ] } }` is the deepest seen in the wild. */
const DEPTH_MAX = 4;
/**
 * Where services put their words, best first.
 * Open question Q6: the shape of an error body is not documented (service-api 7); the first words found are the service's.
 */
const NAMES = ['message', 'error', 'error_description', 'detail', 'title', 'errors', 'data'] as const;

/** The service's own words out of a refusal's JSON body, at most 500 characters; null when it has none. */
export function refusalMessage(body: unknown): string | null {
  const words = wordsIn(body, DEPTH_MAX);
  return words === null ? null : words.slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
}

function wordsIn(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  const candidates: readonly unknown[] = Array.isArray(value) ? value : named(value);
  for (const candidate of candidates) {
    const words = wordsIn(candidate, depth - 1);
    if (words !== null) return words;
  }
  return null;
}

function named(value: object): unknown[] {
  const fields = new Map<string, unknown>(Object.entries(value));
  return NAMES.map((name) => fields.get(name));
}
