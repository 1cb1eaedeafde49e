/** The bytes after a delimiter: `--` ends the form, anything else begins a part. */
const SUFFIX_BYTES = 2;

/**
 * Counts the parts of a multipart body by its delimiters. busboy skips some unreadable parts without an error; comparing
 * this count with the parts it reports detects them. Accepts chunks of any size and buffers at most one delimiter.
 */
export class PartCount {
  #parts = 0;
  #hasEnded = false;
  #hasPartAfterEnd = false;
  readonly #delimiter: Buffer;
  /** Begins with a line end, because the first delimiter has none before it. */
  #rest: Uint8Array = Buffer.from('\r\n');

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`);
  }

  get parts(): number {
    return this.#parts;
  }

  /** True when a part follows the end of the form, where parsers ignore it. */
  get hasPartAfterEnd(): boolean {
    return this.#hasPartAfterEnd;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#rest, chunk]);
    let from = 0;
    for (;;) {
      const at = bytes.indexOf(this.#delimiter, from);
      const after = at + this.#delimiter.length;
      if (at === -1 || after + SUFFIX_BYTES > bytes.length) {
        const keptFrom = at === -1 ? Math.max(from, bytes.length - this.#delimiter.length + 1) : at;
        // A copy, so that the chunk can be freed.
        this.#rest = Uint8Array.from(bytes.subarray(keptFrom));
        return;
      }
      this.#onDelimiter(bytes.toString('latin1', after, after + SUFFIX_BYTES));
      from = after;
    }
  }

  #onDelimiter(suffix: string): void {
    if (suffix === '--') {
      this.#hasEnded = true;
      return;
    }
    this.#parts += 1;
    this.#hasPartAfterEnd ||= this.#hasEnded;
  }
}

/** The boundary parameter of a content type; null when absent. */
export function boundaryOf(contentType: string | undefined): string | null {
  const found = /;\s*boundary=(?:"((?:\\.|[^"\\])*)"|([^\s;"]+))/i.exec(contentType ?? '');
  const boundary = found?.[1]?.replaceAll(/\\(.)/g, '$1') ?? found?.[2] ?? '';
  return boundary === '' ? null : boundary;
}
