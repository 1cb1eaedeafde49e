/**
 * Canonical JSON text: names sorted at every depth, no spaces. Takes output of JSON.parse, including names such as
 * `__proto__`, and recurses once per level, so the input must have bounded depth. Lone surrogates are escaped, so
 * that texts which differ in them stay different in UTF-8.
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

/** True for an object or a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** The value of a JSON text; undefined when it is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Some senders begin a JSON text with a byte order mark, which JSON.parse refuses. */
export function withoutByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

const STRINGS_AND_NUMBERS = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** The same JSON with each number as a string of its digits: JSON.parse keeps integers beyond 2^53 then. */
export function withQuotedNumbers(jsonText: string): string {
  return jsonText.replaceAll(STRINGS_AND_NUMBERS, (token) => (token.startsWith('"') ? token : `"${token}"`));
}

/** What JSON.parse cannot keep: too many levels, and numbers that it turns into Infinity or rounds. */
export interface JsonFaults {
  readonly isTooDeep: boolean;
  /** Paths of the first 20 infinite numbers, such as `metadata.items.0`, each at most 200 characters. */
  readonly infinite: readonly string[];
  readonly infiniteCount: number;
  /** True if a number has 16 or more digits: JSON.parse may return the same number for different ones. */
  readonly hasLongNumber: boolean;
}

/** The most paths that are listed; the rest are only counted. */
export const FAULTS_NAMED_MAX = 20;
const PATH_LENGTH_MAX = 200;
/** A number without exponent needs 309 digits to be infinite. */
const DIGITS_MAX = 308;
/** Different numbers with at most this many significant digits are different doubles. */
const EXACT_DIGITS_MAX = 15;

/** A list or object that is open at this position. */
interface OpenLevel {
  readonly isList: boolean;
  /** Index of the next item. */
  index: number;
  /** Start and end of the last string of this level: the name of the next value. */
  nameFrom: number;
  nameTo: number;
}

/**
 * Finds the faults in one pass before JSON.parse, without recursion and with memory for the open levels only. Stops
 * where the nesting is too deep. Never throws; the result for invalid JSON is meaningless.
 */
export function jsonFaults(text: string, levelsMax: number): JsonFaults {
  const levels: OpenLevel[] = [];
  const infinite: string[] = [];
  let infiniteCount = 0;
  let hasLongNumber = false;
  for (let at = 0; at < text.length; at += 1) {
    const level = levels.at(-1);
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (level) [level.nameFrom, level.nameTo] = [at + 1, end];
      at = end;
    } else if (character === '{' || character === '[') {
      if (levels.length === levelsMax) return { isTooDeep: true, infinite, infiniteCount, hasLongNumber };
      levels.push({ isList: character === '[', index: 0, nameFrom: 0, nameTo: 0 });
    } else if (character === '}' || character === ']') {
      levels.pop();
    } else if (character === ',') {
      if (level) level.index += 1;
    } else if (isDigit(text, at)) {
      const { end, isInfinite } = numberFrom(text, at);
      if (isInfinite) {
        infiniteCount += 1;
        if (infiniteCount <= FAULTS_NAMED_MAX) infinite.push(pathOf(levels, text));
      }
      hasLongNumber ||= end - at > EXACT_DIGITS_MAX && digitsIn(text.slice(at, end)) > EXACT_DIGITS_MAX;
      at = end - 1;
    }
  }
  return { isTooDeep: false, infinite, infiniteCount, hasLongNumber };
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0x30 && code <= 0x39;
}

function numberFrom(text: string, start: number): { end: number; isInfinite: boolean } {
  let end = start;
  let hasExponent = false;
  for (; end < text.length; end += 1) {
    const character = text[end];
    if (character === 'e' || character === 'E') hasExponent = true;
    else if (!isDigit(text, end) && character !== '.' && character !== '+' && character !== '-') break;
  }
  const mayBeInfinite = hasExponent || end - start > DIGITS_MAX;
  return { end, isInfinite: mayBeInfinite && Number(text.slice(start, end)) === Infinity };
}

/** The digits of a number without leading zeros and exponent. */
function digitsIn(number: string): number {
  const [mantissa = ''] = number.split(/e/i, 1);
  return mantissa.replace('.', '').replace(/^0+/, '').length;
}

/** The path of the current value, with names as spelled in the text. */
function pathOf(levels: readonly OpenLevel[], text: string): string {
  return levels
    .map(({ isList, index, nameFrom, nameTo }) =>
      isList ? String(index) : text.slice(nameFrom, Math.min(nameTo, nameFrom + PATH_LENGTH_MAX)),
    )
    .join('.')
    .slice(0, PATH_LENGTH_MAX);
}
