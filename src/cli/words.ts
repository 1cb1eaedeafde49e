/** How things are shown to people: aligned tables, times of Riyadh, absent values as a dash. */

const ABSENT = '-';

/** A moment of the API in Riyadh's time, `2026-11-20 13:05:12`; a dash for none. Machines get UTC, with `--json`. */
export function riyadhTime(moment: string | null): string {
  if (moment === null) return ABSENT;
  const at = new Date(moment);
  return Number.isNaN(at.getTime()) ? moment : RIYADH.format(at);
}

const RIYADH = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Riyadh', dateStyle: 'short', timeStyle: 'medium' });

/** Text as it is; a dash for what is absent or empty. */
export function shown(value: string | number | boolean | null | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value === null || value === undefined || value === '' ? ABSENT : String(value);
}

/** Columns under their names, as wide as their widest cell. Without rows, a sentence that says so. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['Nothing.'];
  const heads = columns.map((name) => name.toUpperCase());
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map((row) => widthOf(row[index] ?? ''))));
  return [heads, ...rows].map((row) =>
    row
      .map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell))))
      .join('  ')
      .trimEnd(),
  );
}

/** Names and values, one pair per line; pairs without a value are left out. */
export function pairs(given: readonly (readonly [name: string, value: string])[]): string[] {
  const present = given.filter(([, value]) => value !== ABSENT);
  const width = Math.max(0, ...present.map(([name]) => name.length));
  return present.map(([name, value]) => `${`${name}:`.padEnd(width + 1)}  ${value}`);
}

/** A heading with what stands below it; nothing when nothing does. */
export function section(heading: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', heading, ...lines.map((line) => `  ${line}`)];
}

const CHARACTERS = new Intl.Segmenter();

/** Characters, not code units: names and plates may be in any script. */
function widthOf(text: string): number {
  return [...CHARACTERS.segment(text)].length;
}
