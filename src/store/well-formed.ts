/** JSON that Lua can read too: it refuses lone surrogates, which JSON.stringify writes as escapes. */
export function wellFormedJson(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
}
