import { SingleBar } from 'cli-progress';

/** Output of the command line. */
export interface Terminal {
  /** Prints a line of the result on standard output. */
  readonly print: (text: string) => void;
  /** Prints a line on standard error. */
  readonly printError: (text: string) => void;
  /** Resolves when all output is written: with the error code when standard output could not be written, else null. */
  readonly untilPrinted: () => Promise<string | null>;
  readonly wantsColor: boolean;
  /** Starts a progress bar; null when standard error is not a terminal. */
  readonly progress: (what: string, total: number | null) => ProgressBar | null;
}

const COLOR_CODES = { red: 31, green: 32, yellow: 33, bold: 1 } as const;

/** A line of text. Only `ColoredText` is our own; any other part may come from outside. */
export type OutputLine = string | readonly (string | ColoredText)[];

interface ColoredText {
  readonly color: keyof typeof COLOR_CODES;
  readonly text: string;
}

export function paint(color: keyof typeof COLOR_CODES, text: string): ColoredText {
  return { color, text };
}

/** A line for the terminal. Control characters are escaped, so that only our own colours control the terminal. */
export function terminalText(line: OutputLine, { wantsColor }: Pick<Terminal, 'wantsColor'>): string {
  const parts = typeof line === 'string' ? [line] : line;
  return parts
    .map((part) => {
      if (typeof part === 'string') return escaped(part);
      const text = escaped(part.text);
      return wantsColor ? `\u001b[${COLOR_CODES[part.color]}m${text}\u001b[0m` : text;
    })
    .join('');
}

/** A document as JSON, with control characters in its strings escaped. */
export function printableJson(document: unknown, indent?: number): string {
  return JSON.stringify(document, null, indent).split('\n').map(escaped).join('\n');
}

/** Control characters, and characters that change the direction of text. */
const CONTROL = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces each control character by its JSON escape. */
function escaped(text: string): string {
  return text.replaceAll(CONTROL, (character) => {
    const short = JSON.stringify(character).slice(1, -1);
    return short === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : short;
  });
}

export interface ProgressBar {
  readonly at: (done: number) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

/**
 * Shows a bar on standard error, or a counter without a known total. cli-progress fits the bar to the terminal, limits
 * redraws and restores the cursor.
 */
export function progressBar(what: string, total: number | null): ProgressBar {
  const format = total === null ? `${what}: {value}` : `${what} [{bar}] {percentage}% {value}/{total}`;
  const bar = new SingleBar({ format, stream: process.stderr, hideCursor: true, clearOnComplete: true });
  // A counter must never reach its total, because the bar would be removed then.
  bar.start(total ?? Number.MAX_SAFE_INTEGER, 0);
  return { at: (done) => bar.update(done), end: () => bar.stop() };
}
