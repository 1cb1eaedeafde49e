/** Words for the person at the terminal; everything for machines goes to the log. */

/** Writes a line to standard output. */
export function printLine(text = ''): void {
  process.stdout.write(`${text}\n`);
}

/** Writes text to standard output as it is. */
export function printText(text: string): void {
  process.stdout.write(text);
}

/** Writes a line to standard error. */
export function printProblem(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** True when a person watches: the picture may be redrawn in place. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/** How many characters fit on a line. */
export function terminalWidth(): number {
  return isTerminal() ? process.stdout.columns : 200;
}
