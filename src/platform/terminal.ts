import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Words for the person at the terminal; everything for machines goes to the log. */

/** Writes a line to standard output. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes text to standard output as it is. */
export function printText(text: string): void {
  process.stdout.write(text);
}

/**
 * Writes lines to standard output as fast as they are taken, holding none. Ends quietly when nobody takes them any more,
 * as `head` does.
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

/** Writes a line to standard error. */
export function printProblem(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Resolves once all that was written is out, or nobody takes it any more. */
export async function untilPrinted(): Promise<void> {
  const out = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  await Promise.all([out(process.stdout), out(process.stderr)]);
}

/** True when a person watches: the picture may be redrawn in place. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** True when a person watches what goes wrong and how far work has come. */
export function isProblemTerminal(): boolean {
  return process.stderr.isTTY;
}

/** How many characters fit on a line. */
export function terminalWidth(): number {
  return isTerminal() ? process.stdout.columns : 200;
}
