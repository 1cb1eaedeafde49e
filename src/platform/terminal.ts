import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from './errors';

/** Output for people at a terminal. Output for machines goes to the log. */

/** The first failed write to standard output. A reader that closed the pipe, as `head` does, is no failure. */
let failure: Error | null = null;

/** Keeps a failed write from ending the process with a stack. Called once, before anything is printed. */
export function watchOutput(): void {
  process.stdout.on('error', (error) => {
    if (errorCode(error) !== 'EPIPE') failure ??= error;
  });
  process.stderr.on('error', () => undefined);
}

export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes text to standard output without a line end. */
export function printText(text: string): void {
  process.stdout.write(text);
}

/**
 * Writes lines to standard output as fast as the reader takes them. Ends without an error when the reader closes the
 * pipe, as `head` does, and after a failed write, which `untilPrinted` returns.
 */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  const bytes = async function* () {
    for await (const line of lines) yield `${line}\n`;
  };
  await pipeline(Readable.from(bytes()), process.stdout, { end: false }).catch((error: unknown) => {
    if (errorCode(error) !== 'EPIPE' && error !== failure) throw error;
  });
}

export function printProblem(text: string): void {
  process.stderr.write(`${text}\n`);
}

/**
 * Resolves when all output is written or its reader is gone. Returns the error code when standard output could not be
 * written, such as ENOSPC; else null.
 */
export async function untilPrinted(): Promise<string | null> {
  const out = (stream: NodeJS.WriteStream) =>
    new Promise<void>((resolve) => {
      stream.once('error', () => resolve());
      stream.write('', () => resolve());
    });
  await Promise.all([out(process.stdout), out(process.stderr)]);
  return failure === null ? null : (errorCode(failure) ?? 'unknown error');
}

/** True when standard output is a terminal. */
export function isOutputTerminal(): boolean {
  return process.stdout.isTTY;
}

/** True when standard error is a terminal. */
export function isProblemTerminal(): boolean {
  return process.stderr.isTTY;
}

/** The width of standard output in characters. */
export function terminalWidth(): number {
  return isOutputTerminal() ? process.stdout.columns : 200;
}
