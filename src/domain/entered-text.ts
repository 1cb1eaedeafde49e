import { westernDigits } from './numerals';

/** Texts as keyboards, messengers, dictation and office programs write them: the same to a reader, not to a program. */

/** What has no shape of its own: direction marks, joiners, spaces without width, tags, selectors of variants. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

/** The text without invisible characters, trimmed. Nothing that a reader sees changes. */
export function visibleText(text: string): string {
  return text.replaceAll(INVISIBLE, '').trim();
}

/** The invisible characters of a text by code and name, each once. */
export function invisibleIn(text: string): string[] {
  return [...new Set(text.match(INVISIBLE))].map(nameOf);
}

/** Letters that look like another one, by the Arabic letter that means all of them. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  ا: 'ٱ',
  ك: 'کڪ',
  ي: 'یىےېۍ',
  ه: 'ہھەةۃ',
  ن: 'ں',
};
const STANDARD = new Map(
  Object.entries(LOOK_ALIKES).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

const PLAIN = /^[!-~]*$/;

/**
 * The one spelling of a text for keys and searches: lower case, western digits, one letter of those that look alike,
 * presentation forms as plain letters; without marks above and below letters, the stroke that lengthens them and
 * invisible characters; each run of spaces and control characters as one space, each dash as a hyphen.
 */
export function searchText(text: string): string {
  // Nearly every reference and number: nothing of the below applies to it.
  if (PLAIN.test(text)) return text.toLowerCase();
  const plain = text.normalize('NFKD').toLowerCase().normalize('NFKD');
  return Array.from(westernDigits(plain), (character) => STANDARD.get(character) ?? character)
    .join('')
    .replaceAll(/[\p{M}\p{Cf}\u0640]/gu, '')
    .replaceAll(INVISIBLE, '')
    .replaceAll(/[\p{Pd}\u2212]/gu, '-')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
}

/** The letters and digits of a text, by code and name, that an Arabic or English keyboard does not write. */
export function unusualLettersIn(text: string): string[] {
  const letters = visibleText(text).match(/[\p{L}\p{N}]/gu) ?? [];
  return [...new Set(letters.filter((letter) => !/[A-Za-z0-9\u0621-\u064a\u0660-\u0669]/.test(letter)))].map(nameOf);
}

/** The names of Unicode for the characters that come often. */
const NAMES: Readonly<Record<string, string>> = {
  '00AD': 'SOFT HYPHEN',
  '061C': 'ARABIC LETTER MARK',
  '200B': 'ZERO WIDTH SPACE',
  '200C': 'ZERO WIDTH NON-JOINER',
  '200D': 'ZERO WIDTH JOINER',
  '200E': 'LEFT-TO-RIGHT MARK',
  '200F': 'RIGHT-TO-LEFT MARK',
  '202A': 'LEFT-TO-RIGHT EMBEDDING',
  '202B': 'RIGHT-TO-LEFT EMBEDDING',
  '202C': 'POP DIRECTIONAL FORMATTING',
  '202D': 'LEFT-TO-RIGHT OVERRIDE',
  '202E': 'RIGHT-TO-LEFT OVERRIDE',
  '2060': 'WORD JOINER',
  '2066': 'LEFT-TO-RIGHT ISOLATE',
  '2067': 'RIGHT-TO-LEFT ISOLATE',
  '2068': 'FIRST STRONG ISOLATE',
  '2069': 'POP DIRECTIONAL ISOLATE',
  FEFF: 'ZERO WIDTH NO-BREAK SPACE',
  '06A9': 'ARABIC LETTER KEHEH',
  '06BE': 'ARABIC LETTER HEH DOACHASHMEE',
  '06C0': 'ARABIC LETTER HEH WITH YEH ABOVE',
  '06C1': 'ARABIC LETTER HEH GOAL',
  '06CC': 'ARABIC LETTER FARSI YEH',
  '06D2': 'ARABIC LETTER YEH BARREE',
};

function nameOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const name = NAMES[code];
  return name === undefined ? `U+${code}` : `U+${code} ${name}`;
}
