/** One piece of JSON: a text, a sign, or a number or word. */
const PIECES = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;
/** What is nested deeper is not indented further: its indentation would outgrow it by far. */
const DEPTH_MAX = 20;

/**
 * JSON with one member a line, each piece of it exactly as it came: parsing it and writing it anew would change numbers
 * (`100.50`, ids beyond 2^53) and drop doubled names. Null for what is no JSON.
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
  for (const [piece] of raw.matchAll(PIECES)) {
    const isFirst = before === '{' || before === '[';
    const isEnd = piece === '}' || piece === ']';
    if (isEnd) depth -= 1;
    if (isEnd ? !isFirst : isFirst || before === ',') out.push(`\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`);
    out.push(piece === ':' ? ': ' : piece);
    if (piece === '{' || piece === '[') depth += 1;
    before = piece;
  }
  return out.join('');
}
