import { timestampMs } from '../domain/timestamp';

/** Answers of the API as text: a list as a table, a record as names and values with a table for each of its lists. */

/**
 * The lines of an answer. `shown` names the fields to show, separated by spaces: `state`, `dispatch.yard.slot`,
 * `reports.state`; default: all.
 */
export function answerLines(answer: unknown, shown?: string): string[] {
  if (answer === null) return ['Done.'];
  const items = isObject(answer) ? answer['items'] : answer;
  if (Array.isArray(items)) return tableOf(items, namesIn(shown) ?? pathsOf(items));
  return recordLines(answer, namesIn(shown) ?? pathsOf(answer));
}

/** A field of an answer as text; a dash when it is absent. */
export function fieldText(answer: unknown, path: string): string {
  return cell(valuesAt(answer, path));
}

function namesIn(shown: string | undefined): string[] | undefined {
  return shown?.trim().split(/\s+/);
}

function recordLines(record: unknown, paths: readonly string[]): string[] {
  const lists = new Map<string, string[]>();
  const single: string[] = [];
  for (const path of paths) {
    const list = listIn(record, path);
    if (list === null) single.push(path);
    else lists.set(list, [...(lists.get(list) ?? []), path.slice(list.length + 1)]);
  }
  const lines = [
    ...pairs(single.map((path) => [wordsOf(path), cell(valuesAt(record, path))])),
    ...[...lists].flatMap(([list, columns]) => {
      const items = valuesAt(record, list);
      return items.length === 0 ? [] : section(capitalized(wordsOf(list)), tableOf(items, columns));
    }),
  ];
  return lines[0] === '' ? lines.slice(1) : lines;
}

/** Columns without a value are left out. */
function tableOf(items: readonly unknown[], paths: readonly string[]): string[] {
  const used = paths.filter((path) => valuesAt(items, path).length > 0);
  return table(
    used.map(wordsOf),
    items.map((item) => used.map((path) => cell(valuesAt(item, path)))),
  );
}

/** The paths of all values, those inside of lists included. */
function pathsOf(value: unknown): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap(pathsOf))];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    if (inner === null) return [name];
    const below = pathsOf(inner);
    return below.length === 0 ? [name] : below.map((path) => `${name}.${path}`);
  });
}

/** The values at a path: one, or those of all items of a list on the way. */
function valuesAt(value: unknown, path: string): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, path));
  if (path === '') return value === undefined || value === null ? [] : [value];
  if (!isObject(value)) return [];
  const [name = '', ...rest] = path.split('.');
  return valuesAt(value[name], rest.join('.'));
}

/** The path of the first list of records on the way; null if there is none. */
function listIn(record: unknown, path: string): string | null {
  const names = path.split('.');
  let value = record;
  for (const [index, name] of names.entries()) {
    value = isObject(value) ? value[name] : undefined;
    if (Array.isArray(value)) return index < names.length - 1 ? names.slice(0, index + 1).join('.') : null;
  }
  return null;
}

function cell(values: readonly unknown[]): string {
  return values.map(textOf).join(', ') || ABSENT;
}

function textOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return timestampMs(value) === null ? value : riyadhTime(value);
  if (isObject(value)) return Object.values(value).map(textOf).join(' ');
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'number' ? String(value) : ABSENT;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `last_error.message` → `last error message`, `availableSlots` → `available slots`. */
function wordsOf(path: string): string {
  return path.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll(/[._]/g, ' ');
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

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
