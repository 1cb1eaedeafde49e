/** An escape that JSON.stringify writes for half of a surrogate pair only. */
const LONE_SURROGATE = /\\ud[89a-f]/i;

/** JSON that Lua can read too: it refuses lone surrogates, which JSON.stringify writes as escapes. */
export function wellFormedJson(value: unknown): string {
  const json = JSON.stringify(value);
  if (!LONE_SURROGATE.test(json)) return json;
  return JSON.stringify(value, (_name, item: unknown) => (typeof item === 'string' ? item.toWellFormed() : item));
}
