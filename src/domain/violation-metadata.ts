import type { JsonObject } from './vocabulary';

/** Metadata of a violation: as it was read, and as the text that is sent. */
export interface EnteredMetadata {
  readonly value: JsonObject;
  /** The JSON of an object, trimmed. */
  readonly text: string;
}

/** Metadata with an id: what was entered if it has one, else the same text with `id` put in front. */
export function metadataWithId(entered: EnteredMetadata | undefined, id: string): EnteredMetadata {
  if (!entered) return { value: { id }, text: JSON.stringify({ id }) };
  if (entered.value['id'] !== undefined) return entered;
  const members = entered.text.slice(1);
  const comma = members.trim() === '}' ? '' : ',';
  return { value: { ...entered.value, id }, text: `{"id":${JSON.stringify(id)}${comma}${members}` };
}

/** How often the object of a JSON text has a member of this name; of two, readers of JSON do not agree which counts. */
export function timesNamed(name: string, text: string): number {
  let depth = 0;
  let times = 0;
  for (const [token, string, colon] of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (string !== undefined) {
      if (depth === 1 && colon !== undefined && JSON.parse(string) === name) times += 1;
    } else depth += token === '{' || token === '[' ? 1 : -1;
  }
  return times;
}
