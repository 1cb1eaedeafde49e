import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { csvLine } from '../contracts/csv';
import { errorCode } from '../platform/errors';
import type { ImportedRow } from './import-rows';
import { UsageError } from './problems';

/** The results of an import: one line per row of its file, in the same order. */

const HEADER = csvLine(['row', 'violation_reference_id', 'metadata_id', 'result', 'id', 'problem']);

export interface RowResult {
  readonly result: 'created' | 'already_known' | 'conflict' | 'invalid';
  /** Our id of the violation, '' when it is invalid. */
  readonly id: string;
  readonly problem: string;
}

export interface ImportResults {
  /** Begins the file, in place of earlier results. */
  begin(): Promise<void>;
  append(results: readonly { readonly row: ImportedRow; readonly result: RowResult }[]): Promise<void>;
}

/** Throws UsageError for a file that exists and holds anything but results. */
export async function openResults(file: string): Promise<ImportResults> {
  const fail = (error: unknown): never => {
    throw new UsageError([{ field: file, rule: `cannot be used (${errorCode(error) ?? 'unknown error'})` }]);
  };
  const start = await readFile(file, 'utf8').catch((error: unknown) =>
    errorCode(error) === 'ENOENT' ? '' : fail(error),
  );
  // A run that was killed may have left a part of the header.
  if (!HEADER.startsWith(start.slice(0, HEADER.length))) {
    throw new UsageError([{ field: file, rule: 'holds no results of an import' }]);
  }
  return {
    begin: () => writeFile(file, HEADER).catch(fail),
    append: (results) => appendFile(file, results.map(lineOf).join('')).catch(fail),
  };
}

function lineOf({
  row: { number, reference, metadataId },
  result: { result, id, problem },
}: {
  readonly row: ImportedRow;
  readonly result: RowResult;
}): string {
  return csvLine([String(number), reference, metadataId, result, id, problem]);
}
