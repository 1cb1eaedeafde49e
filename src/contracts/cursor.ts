/**
 * Where a page of a list ended: the last row seen, so that new rows shift nothing. Opaque to callers.
 */
export interface Cursor {
  /** A whole number: milliseconds since the epoch, or the place in a sequence. */
  readonly score: number;
  readonly member: string;
}

export function writeCursor({ score, member }: Cursor): string {
  return Buffer.from(`${score} ${member}`).toString('base64url');
}

/** Null when the text is no cursor of ours. */
export function readCursor(text: string): Cursor | null {
  const decoded = Buffer.from(text, 'base64url').toString();
  const space = decoded.indexOf(' ');
  const score = Number(decoded.slice(0, space));
  return space > 0 && Number.isSafeInteger(score) ? { score, member: decoded.slice(space + 1) } : null;
}
