/** What stands behind a delimiter tells whether it begins a part or ends the form. */
const BEHIND_BYTES = 2;

/**
 * Counts the parts of a multipart body by their delimiters alone, whatever can be read of the parts. The parser passes over
 * parts whose head it does not understand; who compares its findings with this count loses none. Takes the body in pieces of
 * any size and remembers no more than a delimiter of it.
 */
export class PartCount {
  #parts = 0;
  #hasEnded = false;
  #goesOn = false;
  readonly #delimiter: Buffer;
  /** The first delimiter needs no line before it. */
  #rest: Uint8Array = Buffer.from('\r\n');

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  /** The parts so far. */
  get parts(): number {
    return this.#parts;
  }

  /** True once another part stands behind the end of the form, where no parser looks for one. */
  get goesOnBehindEnd(): boolean {
    return this.#goesOn;
  }

  push(piece: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, piece]);
    let from = 0;
    for (;;) {
      const at = bytes.indexOf(this.#delimiter, from);
      const behind = at + this.#delimiter.length;
      if (at === -1 || behind + BEHIND_BYTES > bytes.length) {
        const keptFrom = at === -1 ? Math.max(from, bytes.length - this.#delimiter.length + 1) : at;
        // A copy, so that the piece can go.
        this.#rest = Uint8Array.from(bytes.subarray(keptFrom));
        return;
      }
      this.#delimited(bytes.toString('latin1', behind, behind + BEHIND_BYTES));
      from = behind;
    }
  }

  #delimited(behind: string): void {
    if (behind === '--') {
      this.#hasEnded = true;
      return;
    }
    this.#parts += 1;
    this.#goesOn ||= this.#hasEnded;
  }
}

/** The boundary that a content type names; null when it names none. */
export function boundaryOf(contentType: string | undefined): string | null {
  const found = /;\s*boundary=(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))/i.exec(contentType ?? '');
  const boundary = found?.[1]?.replaceAll(/\\(.)/g, '$1') ?? found?.[2] ?? '';
  return boundary === '' ? null : boundary;
}
