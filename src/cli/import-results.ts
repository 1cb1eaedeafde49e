import { appendFile, readFile, truncate } from 'node:fs/promises';
import { csvLine } from '../contracts/csv';
import { errorCode } from '../platform/errors';
import type { ImportedRow } from './import-rows';
import { UsageError } from './problems';

/** The results of an import: one line per row of its file, in the same order. It is also the progress of the import. */

const HEADER = csvLine(['row', 'violation_reference_id', 'metadata_id', 'result', 'id', 'problem']);

/** A line whose fourth cell is `invalid` or `conflict`; every cell is in quotes, and a quote in it is doubled. */
const INVALID = /^(?:"(?:[^"]|"")*",){3}"(?:invalid|conflict)",/;

const FRESH_RESULTS =
  'Delete it, or name a new file with --results. All rows are sent then; those that are known already are not added twice.';

export interface RowResult {
  readonly result: 'created' | 'already_known' | 'conflict' | 'invalid';
  /** Our id of the violation, '' when it is invalid. */
  readonly id: string;
  readonly problem: string;
}

export interface ImportResults {
  /** The rows that have a result already. */
  readonly done: number;
  /** Those of them that are invalid, or in conflict with another violation. */
  readonly invalid: number;
  /** Throws UsageError when the row does not belong to the result that is stored for it. */
  check(row: ImportedRow): void;
  /** Creates the file when this is the first run. */
  begin(): Promise<void>;
  /** Appends results; they are on the disk of the system when it resolves. */
  append(results: readonly { readonly row: ImportedRow; readonly result: RowResult }[]): Promise<void>;
}

/**
 * Opens the results of an earlier run, or new ones. Removes a line that a killed run left incomplete. Throws UsageError
 * for a file that holds anything else, and does not change it.
 */
export async function openResults(file: string): Promise<ImportResults> {
  const lines = await completeLines(file);
  const append = (text: string) => appendFile(file, text).catch((error: unknown) => fail(file, 'written', error));
  const stored = lines.slice(1);
  return {
    done: stored.length,
    invalid: stored.filter((line) => INVALID.test(line)).length,
    check(row) {
      const line = stored[row.number - 1];
      if (line !== undefined && !line.startsWith(`${namesOf(row)},`)) {
        const rule = `holds the results of another file: row ${row.number} differs. ${FRESH_RESULTS}`;
        throw new UsageError([{ field: file, rule }]);
      }
    },
    begin: async () => {
      if (lines.length === 0) await append(HEADER);
    },
    append: (results) => append(results.map(({ row, result }) => lineOf(row, result)).join('')),
  };
}

async function completeLines(file: string): Promise<string[]> {
  try {
    const bytes = await readFile(file);
    // A first run that was killed may have left a part of the header.
    const start = bytes.subarray(0, HEADER.length).toString();
    if (!HEADER.startsWith(start)) throw new UsageError([{ field: file, rule: 'holds no results of an import' }]);
    const end = bytes.lastIndexOf('\n') + 1;
    if (end < bytes.length) await truncate(file, end);
    return bytes.subarray(0, end).toString().split('\r\n').slice(0, -1);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (errorCode(error) === 'ENOENT') return [];
    return fail(file, 'read', error);
  }
}

function fail(file: string, how: string, error: unknown): never {
  throw new UsageError([{ field: file, rule: `cannot be ${how} (${errorCode(error) ?? 'unknown error'})` }]);
}

function lineOf(row: ImportedRow, { result, id, problem }: RowResult): string {
  return `${namesOf(row)},${csvLine([result, id, oneLineOf(problem)])}`;
}

function namesOf({ number, reference, metadataId }: ImportedRow): string {
  return csvLine([String(number), oneLineOf(reference), oneLineOf(metadataId)]).trimEnd();
}

/** Each result is one line, so that a killed run leaves at most one incomplete one. */
function oneLineOf(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ');
}
