import { json } from '../contracts/common';
import { OPERATIONS, type Operation } from '../contracts/operations';
import { sensitiveFieldNames } from '../contracts/sensitive';
import { bothScripts } from '../domain/plate';
import type { Json, JsonObject } from '../domain/vocabulary';

/**
 * What goes over the wire, shown to people without personal data: such a page is photographed, printed and sent to the
 * service's support. Fields are known by the marks of the contracts; in free text, values that are known are looked for.
 */

const MASK = '•••';

const ALL: readonly Operation[] = Object.values(OPERATIONS);
const SCHEMAS = ALL.flatMap(({ request, answer }) => (request === null ? [answer] : [request, answer]));
const NAMES = new Set(sensitiveFieldNames(SCHEMAS).map((name) => name.toLowerCase()));

/** The same with every sensitive field masked, at any depth. */
export function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isSensitive(name) && field !== null ? MASK : masked(field)]),
  );
}

/** True for a field whose value is personal data or a secret. */
export function isSensitive(name: string): boolean {
  return NAMES.has(name.toLowerCase());
}

/** Indented JSON without personal data; `known` values are masked wherever they stand. */
export function maskedJson(value: JsonObject, known: readonly string[] = []): string {
  return maskedWords(JSON.stringify(masked(value), null, 2), known);
}

/** A raw body without personal data: as JSON where it is that, else as text in which `known` values are looked for. */
export function maskedBody(raw: string, known: readonly string[] = []): string {
  const value = jsonOf(raw);
  return value === undefined ? maskedWords(raw, known) : maskedWords(JSON.stringify(masked(value), null, 2), known);
}

/** Words in which every known plate is masked, in whichever script and however spaced it is written. */
export function maskedWords(words: string, known: readonly string[]): string {
  return known.flatMap(spellingsOf).reduce((text, spelling) => text.replaceAll(spelling, MASK), words);
}

/** Shorter ones are part of many words and numbers. */
const LETTERS_MIN = 4;

function spellingsOf(value: string): RegExp[] {
  const scripts = bothScripts(value);
  return [value, ...(scripts ? [scripts.latin, scripts.arabic] : [])]
    .map((text) => Array.from(text.replaceAll(/[\s-]/g, '')))
    .filter((letters) => letters.length >= LETTERS_MIN)
    .map((letters) => new RegExp(letters.map(escaped).join(String.raw`[\s-]*`), 'giu'));
}

function escaped(letter: string): string {
  return letter.replace(/[\\^$.*+?()[\]{}|/]/, String.raw`\$&`);
}

function jsonOf(raw: string): Json | undefined {
  try {
    return json.parse(JSON.parse(raw));
  } catch {
    return undefined;
  }
}
