/** Parses Redis replies. An unexpected reply is an error. */

/** A reply of another form than documented: a bug, or a key that was changed manually. */
export class UnexpectedReply extends Error {
  constructor(readonly what: string) {
    super(`Redis answered something unexpected for ${what}`);
    this.name = 'UnexpectedReply';
  }
}

/** A string, or a number as a string. */
export function text(reply: unknown, what: string): string {
  if (typeof reply === 'string') return reply;
  if (typeof reply === 'number') return String(reply);
  throw new UnexpectedReply(what);
}

export function list(reply: unknown, what: string): unknown[] {
  if (!Array.isArray(reply)) throw new UnexpectedReply(what);
  return reply;
}

export function texts(reply: unknown, what: string): string[] {
  return list(reply, what).map((item) => text(item, what));
}

/** The fields of a flat list of names and values. */
export function fields(reply: unknown, what: string): Map<string, string> {
  const flat = texts(reply, what);
  const map = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) map.set(flat[i] ?? '', flat[i + 1] ?? '');
  return map;
}
