/**
 * One text for all spellings of the same JSON: names sorted at every depth, no spaces. Takes the output of JSON.parse,
 * names such as `__proto__` among it, and calls itself once per level: what comes in has bounded levels. Lone
 * surrogates are written as escapes, so that texts that differ in them stay different as UTF-8.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  let members = '';
  for (const name of Object.keys(value).toSorted()) {
    members += `${members === '' ? '' : ','}${JSON.stringify(name)}:${canonicalJson(value[name])}`;
  }
  return `{${members}}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
