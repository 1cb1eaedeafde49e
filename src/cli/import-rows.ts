import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import {
  importedCells,
  KNOWN_FIELDS,
  knownViolation,
  type KnownViolation,
} from '../contracts/violation/known-violations';
import { failedRules } from '../contracts/rules';
import { errorCode } from '../platform/errors';
import { UsageError } from './problems';

/** The rows of a CSV file of violations that other software has reported, read as a stream. */

/** The columns, in any order; others are ignored. */
export const COLUMNS = KNOWN_FIELDS;
type Column = (typeof COLUMNS)[number];

const REQUIRED: readonly Column[] = ['plateNumber', 'location', 'latitude', 'longitude'];
const NAMES: readonly Column[] = ['violation_reference_id', 'metadata_id'];

export interface ImportedRow {
  /** 1 for the first row after the header. */
  readonly number: number;
  readonly reference: string;
  readonly metadataId: string;
  readonly row:
    | { readonly kind: 'valid'; readonly violation: KnownViolation }
    /** The broken rules, without the values. */
    | { readonly kind: 'invalid'; readonly problem: string };
}

/**
 * Reads the rows. Throws UsageError for a file that cannot be read, is not UTF-8 or is empty, or a header without the
 * required columns.
 */
export async function* readRows(file: string, delimiter: string): AsyncGenerator<ImportedRow> {
  let hasHeader = false;
  const parser = parse({
    columns: (header: readonly string[]) => {
      hasHeader = true;
      return checkedHeader(file, header);
    },
    delimiter,
    skip_empty_lines: true,
    trim: true,
  });
  // An error destroys the parser, and so ends the loop.
  pipeline(createReadStream(file), utf8Texts, parser, () => undefined);
  let number = 0;
  try {
    for await (const parsed of parser) {
      number += 1;
      yield rowOf(number, importedCells.parse(parsed));
    }
    if (!hasHeader) checkedHeader(file, []);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const code = errorCode(error) ?? 'unknown error';
    if (code === NOT_UTF8) throw new UsageError([{ field: file, rule: `is not UTF-8 text after row ${number}` }]);
    throw new UsageError([{ field: file, rule: `cannot be read after row ${number} (${code})` }]);
  }
}

/** The code of the error of a TextDecoder. */
const NOT_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA';

/** Decodes the bytes without a byte order mark. Throws for bytes that are not UTF-8. */
async function* utf8Texts(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const bytes of source) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

/** What a spreadsheet makes of a long number: its last digits are lost. */
const SHORTENED = /^\d(\.\d+)?E\+\d+$/i;

/** Names the cells with an id that a spreadsheet has shortened; '' without one. */
export function hintOf({ reference, metadataId }: ImportedRow): string {
  const cells = Object.entries({ violation_reference_id: reference, metadata_id: metadataId });
  const columns = cells.flatMap(([column, text]) => (SHORTENED.test(text) ? [column] : []));
  return columns.length === 0
    ? ''
    : `${columns.join(' and ')} looks like a number that a spreadsheet shortened: export the column as text`;
}

function checkedHeader(file: string, header: readonly string[]): string[] {
  const names = header.map((name) => name.trim());
  const missing = REQUIRED.filter((column) => !names.includes(column));
  const hasName = NAMES.some((column) => names.includes(column));
  if (missing.length > 0 || !hasName) {
    const columns = [...missing, ...(hasName ? [] : [NAMES.join(' or ')])].join(', ');
    throw new UsageError([{ field: file, rule: `has no column ${columns} in its first line` }]);
  }
  return names;
}

function rowOf(number: number, cells: Readonly<Record<string, string>>): ImportedRow {
  const fields = Object.fromEntries(COLUMNS.flatMap((column) => fieldOf(column, cells[column] ?? '')));
  const checked = knownViolation.safeParse(fields);
  const names = { reference: cells['violation_reference_id'] ?? '', metadataId: cells['metadata_id'] ?? '' };
  if (checked.success) return { number, ...names, row: { kind: 'valid', violation: checked.data } };
  const problem = failedRules(checked.error)
    .map(({ field, rule }) => `${field} ${rule}`)
    .join('; ');
  return { number, ...names, row: { kind: 'invalid', problem } };
}

/** An empty cell counts as absent. */
function fieldOf(column: Column, text: string): [string, string | number][] {
  if (text === '') return [];
  const isNumber = column === 'latitude' || column === 'longitude';
  return [[column, isNumber && /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text]];
}
