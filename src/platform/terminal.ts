import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Output for people at a terminal. Output for machines goes to the log. */

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes text to standard output without a line end. */
export function printText(text: string): void {
  process.stdout.write(text);
}

/**
 * Writes lines to standard output as fast as the reader takes them. Ends without an error when the reader closes the
 * pipe, as `head` does.
 */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  const bytes = async function* () {
    for await (const line of lines) yield `${line}\n`;
  };
  await pipeline(Readable.from(bytes()), process.stdout, { end: false }).catch((error: unknown) => {
    const isClosed = error instanceof Error && 'code' in error && error.code === 'EPIPE';
    if (!isClosed) throw error;
  });
}

export function printProblem(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Resolves when all output is written or its reader is gone. */
export async function untilPrinted(): Promise<void> {
  const out = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  await Promise.all([out(process.stdout), out(process.stderr)]);
}

/** True when standard output is a terminal. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** True when standard error is a terminal. */
export function isProblemTerminal(): boolean {
  return process.stderr.isTTY;
}

/** The width of standard output in characters. */
export function terminalWidth(): number {
  return isTerminal() ? process.stdout.columns : 200;
}
