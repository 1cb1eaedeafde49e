/** One piece of JSON: a text, a sign, or a number or word. */
const PIECES = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;
/** What is nested deeper is not indented further: its indentation would outgrow it by far. */
const DEPTH_MAX = 20;

/** What would become longer is not laid out: a page of many times the length of a body helps nobody. */
export const INDENTED_MAX = 1_000_000;

/**
 * JSON with one member a line, each piece of it exactly as it came: parsing it and writing it anew would change numbers
 * (`100.50`, ids beyond 2^53) and drop doubled names. Null for what is no JSON, and for what
 * would become longer than INDENTED_MAX: it is shown as it came.
 */
export function indented(raw: string): string | null {
  try {
    JSON.parse(raw);
  } catch {
    return null;
  }
  const out: string[] = [];
  let depth = 0;
  let before = '';
  let length = 0;
  const add = (text: string) => {
    out.push(text);
    length += text.length;
  };
  for (const [piece] of raw.matchAll(PIECES)) {
    const isFirst = before === '{' || before === '[';
    const isEnd = piece === '}' || piece === ']';
    if (isEnd) depth -= 1;
    if (isEnd ? !isFirst : isFirst || before === ',') add(`\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`);
    add(piece === ':' ? ': ' : piece);
    if (length > INDENTED_MAX) return null;
    if (piece === '{' || piece === '[') depth += 1;
    before = piece;
  }
  return out.join('');
}
