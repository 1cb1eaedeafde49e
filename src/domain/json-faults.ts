/** What JSON can spell and this program cannot keep: too many levels, and numbers that JSON.parse makes infinite. */
export interface JsonFaults {
  readonly isTooDeep: boolean;
  /** Paths of the first 20 infinite numbers, such as `metadata.items.0`, each cut at 200 characters. */
  readonly infinite: readonly string[];
  /** How many infinite numbers there are. */
  readonly infiniteCount: number;
}

/** How many faults are named; the others are counted. */
export const FAULTS_NAMED_MAX = 20;
const PATH_LENGTH_MAX = 200;
/** 309 digits make the smallest infinite number without an exponent. */
const DIGITS_MAX = 308;

/** A list or an object that is open at this place of the text. */
interface Level {
  readonly isList: boolean;
  /** Of the item that comes next. */
  index: number;
  /** Where the last string of this level lies, which is the name of the next value. */
  nameFrom: number;
  nameTo: number;
}

/**
 * Looks for them in one pass over the text before JSON.parse: no recursion, and no memory but that of the open levels. Ends
 * where the text is nested too deeply. Of a text that is no JSON it tells nothing of use, and never fails.
 */
export function jsonFaults(text: string, levelsMax: number): JsonFaults {
  const levels: Level[] = [];
  const infinite: string[] = [];
  let infiniteCount = 0;
  for (let at = 0; at < text.length; at += 1) {
    const level = levels.at(-1);
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (level) [level.nameFrom, level.nameTo] = [at + 1, end];
      at = end;
    } else if (character === '{' || character === '[') {
      if (levels.length === levelsMax) return { isTooDeep: true, infinite, infiniteCount };
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
      at = end - 1;
    }
  }
  return { isTooDeep: false, infinite, infiniteCount };
}

/** Where the closing quote of the string lies that opens here. */
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

/** The path of the value that the text has come to, names spelled as they are in the text. */
function pathOf(levels: readonly Level[], text: string): string {
  return levels
    .map(({ isList, index, nameFrom, nameTo }) =>
      isList ? String(index) : text.slice(nameFrom, Math.min(nameTo, nameFrom + PATH_LENGTH_MAX)),
    )
    .join('.')
    .slice(0, PATH_LENGTH_MAX);
}
