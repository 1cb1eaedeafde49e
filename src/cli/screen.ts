import type { Progress } from './progress';

/** Where the command line speaks. */
export interface Screen {
  /** The answer, on standard output. */
  readonly line: (text: string) => void;
  /** What went wrong, and what goes on, on standard error. */
  readonly problem: (text: string) => void;
  readonly wantsColor: boolean;
  /** Shows how far long work has come; null where nobody watches. */
  readonly progress: (what: string, total: number | null) => Progress | null;
}

const CODES = { red: 31, green: 32, yellow: 33, bold: 1 } as const;

/** A line for people: text, which may come from anywhere, and words of our own in a colour. */
export type Line = string | readonly (string | Painted)[];

interface Painted {
  readonly color: keyof typeof CODES;
  readonly text: string;
}

/** Text in a colour, where there are any. */
export function paint(color: keyof typeof CODES, text: string): Painted {
  return { color, text };
}

/** A line as a terminal may get it: its only control sequences are colours of our own. */
export function textOf(line: Line, { wantsColor }: Pick<Screen, 'wantsColor'>): string {
  const parts = typeof line === 'string' ? [line] : line;
  return parts
    .map((part) => {
      if (typeof part === 'string') return escaped(part);
      const text = escaped(part.text);
      return wantsColor ? `\u001b[${CODES[part.color]}m${text}\u001b[0m` : text;
    })
    .join('');
}

/** A document as JSON whose texts hold no control characters; it means the same. */
export function jsonText(document: unknown, indent?: number): string {
  return JSON.stringify(document, null, indent).split('\n').map(escaped).join('\n');
}

/** Control characters, and those that turn the direction of the text around them. */
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Shows each as an escape of JSON, so that none reaches the terminal. */
function escaped(text: string): string {
  return text.replaceAll(CONTROL, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
  });
}
