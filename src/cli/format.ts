/** Text output: aligned tables, Riyadh times, a dash for absent values. */

/** The text of an absent value. */
export const ABSENT = '-';

/** A timestamp in Riyadh time, `2026-11-20 13:05:12`. */
export function riyadhTime(timestamp: string): string {
  return RIYADH.format(new Date(timestamp));
}

const RIYADH = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Riyadh', dateStyle: 'short', timeStyle: 'medium' });

/** Rows in aligned columns below their headings; 'None.' without rows. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.'];
  const heads = columns.map((name) => name.toUpperCase());
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map((row) => widthOf(row[index] ?? ''))));
  return [heads, ...rows].map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd(),
  );
}

/** Names and values, one pair per line. Pairs with an absent value are left out. */
export function pairs(given: readonly (readonly [name: string, value: string])[]): string[] {
  const present = given.filter(([, value]) => value !== ABSENT);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${`${name}:`.padEnd(width + 1)}  ${value}`);
}

/** A heading with indented lines; empty without lines. */
export function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', heading, ...lines.map((line) => `  ${line}`)];
}

const CHARACTERS = new Intl.Segmenter();

/** Counts characters, not code units, because names and plates may be in any script. */
function widthOf(text: string): number {
  return [...CHARACTERS.segment(text)].length;
}
