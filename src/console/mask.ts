import { JSON_LEVELS_MAX } from '../contracts/common';
import { OPERATIONS, type Operation } from '../contracts/service/operations';
import { sensitiveFieldNames } from '../domain/sensitive';
import { isObject, jsonFaults, jsonIn, withoutByteOrderMark } from '../domain/json';
import { bothScripts } from '../domain/tow/plate';
import type { JsonObject } from '../domain/vocabulary';

/**
 * Masks personal data in requests and responses that people see, because such pages are printed and sent to the support
 * of the service. Fields are recognized by the `sensitive()` marks of the contracts, known values also within text.
 */

const MASK = '•••';

const ALL: readonly Operation[] = Object.values(OPERATIONS);
const SCHEMAS = ALL.flatMap(({ request, answer }) => (request === null ? [answer] : [request, answer]));
const NAMES = new Set(sensitiveFieldNames(SCHEMAS).map((name) => name.toLowerCase()));

/** Masks every sensitive field, at any depth. Recurses once per level. */
export function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, isSensitive(name) && field !== null ? MASK : masked(field)]),
  );
}

/** True for a field whose value is personal data or a secret. */
function isSensitive(name: string): boolean {
  return NAMES.has(name.toLowerCase());
}

/** Indented JSON with masked fields. `known` values are masked everywhere. */
export function maskedJson(value: JsonObject, known: readonly string[] = []): string {
  return maskedText(JSON.stringify(masked(value), null, 2), known);
}

/** A raw body, masked as JSON if it is JSON, else as text. Of JSON that was cut off, sensitive fields are masked too. */
export function maskedBody(raw: string, known: readonly string[] = []): string {
  const value = jsonOf(raw);
  const shown = value === undefined ? maskedFields(raw) : JSON.stringify(masked(value), null, 2);
  return maskedText(shown, known);
}

/** A field of a JSON text with a text or a number, which may be cut off. */
const FIELD = /"([^"\\]*)"\s*:\s*(?:"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|-?\d[\d.eE+-]*)/g;

function maskedFields(text: string): string {
  return text.replaceAll(FIELD, (field, name: string) => (isSensitive(name) ? `"${name}": "${MASK}"` : field));
}

/** Masks known plates in text, in either script and with any spacing. */
export function maskedText(raw: string, known: readonly string[]): string {
  return known.flatMap(spellingsOf).reduce((text, spelling) => text.replaceAll(spelling, MASK), raw);
}

/** Shorter values occur in other words and numbers. */
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

/** The service echoes JSON of that depth inside its own message. */
const LEVELS_MAX = JSON_LEVELS_MAX + 1;

/** Undefined for text that is not JSON, or is nested too deeply to recurse into it. */
function jsonOf(raw: string): unknown {
  return jsonFaults(raw, LEVELS_MAX).isTooDeep ? undefined : jsonIn(withoutByteOrderMark(raw));
}
