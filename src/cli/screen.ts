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

/** Text in a colour, where there are any. */
export function paint(screen: Pick<Screen, 'wantsColor'>, color: keyof typeof CODES, text: string): string {
  return screen.wantsColor ? `\u001b[${CODES[color]}m${text}\u001b[0m` : text;
}
