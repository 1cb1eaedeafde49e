const MESSAGE_LENGTH_MAX = 500;
/** How deep a message is searched; the deepest known is `{ error: { errors: [ { message } ] } }`. */
const DEPTH_MAX = 4;
/**
 * Where services put their messages, best first.
 * Open question Q6: the shape of an error body is not documented (docs/service-api.md#errors); the first message found
 * counts.
 */
const NAMES = ['message', 'error', 'error_description', 'detail', 'title', 'errors', 'data'] as const;

/** The message in a refusal's JSON body, at most 500 characters; null when there is none. */
export function refusalMessageIn(body: unknown): string | null {
  const message = messageIn(body, DEPTH_MAX);
  return message === null ? null : message.slice(0, MESSAGE_LENGTH_MAX).toWellFormed();
}

function messageIn(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  const candidates: readonly unknown[] = Array.isArray(value) ? value : named(value);
  for (const candidate of candidates) {
    const message = messageIn(candidate, depth - 1);
    if (message !== null) return message;
  }
  return null;
}

function named(value: object): unknown[] {
  const fields = new Map<string, unknown>(Object.entries(value));
  return NAMES.map((name) => fields.get(name));
}
