import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { KnownViolation } from '../contracts/violation/known-violations';
import { ROUTES } from '../contracts/operator-routes';
import { addCommand, option, type CommandOutput, type CommandTools, type Invocation, groupOf } from './command';
import { COLUMNS, hintOf, readRows, type ImportedRow } from './import-rows';
import { EXIT, UsageError } from './problems';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { csvLine } from '../contracts/common';
import { errorCode } from '../platform/errors';

/** Rows per call: fewer than the API takes, so that long places fit its largest body. */
const ROWS_PER_CALL = 25;
const CALLS_AT_ONCE = 4;
const ROWS_AT_ONCE = ROWS_PER_CALL * CALLS_AT_ONCE;

/** `towhook violation import` */
export function addViolationImport(program: Command, tools: CommandTools): void {
  addCommand(groupOf(program, 'violation'), tools, {
    usage: 'import <file>',
    summary: `add violations that other software has reported, from a CSV file with the columns ${COLUMNS.join(', ')}`,
    options: [
      option('--results <file>', 'the file for one result per row; default: <file>.results.csv'),
      option('--delimiter <sign>', 'what separates the cells', [',', ';']).default(','),
    ],
    examples: ['towhook violation import reported.csv', 'towhook violation import reported.csv --results done.csv'],
    run: importFile,
  });
}

/** Sends all rows. One that is sent again, after a run that was interrupted, is added once: the API knows it by then. */
async function importFile(call: Invocation): Promise<CommandOutput> {
  const file = call.argument(0);
  const resultsFile = call.text('results') ?? `${file}.results.csv`;
  if (resolve(resultsFile) === resolve(file)) {
    throw new UsageError([{ field: '--results', rule: 'must not be the file that is imported' }]);
  }
  const results = await openResults(resultsFile);
  const progress = call.terminal.progress('rows', null);
  const counts = { created: 0, already_known: 0, conflict: 0, invalid: 0 };
  let waiting: ImportedRow[] = [];
  let rows = 0;
  let shortened = 0;
  const flush = async () => {
    const found = await resultsOf(call, waiting);
    await results.append(found);
    for (const { result } of found) counts[result.result] += 1;
    shortened += waiting.filter((row) => hintOf(row) !== '').length;
    waiting = [];
    progress?.at(rows);
  };
  try {
    for await (const row of readRows(file, call.text('delimiter') ?? ',')) {
      rows = row.number;
      // Only now, so that a file that cannot be read leaves no empty results.
      if (row.number === 1) await results.begin();
      waiting.push(row);
      if (waiting.length === ROWS_AT_ONCE) await flush();
    }
    if (waiting.length > 0) await flush();
  } finally {
    progress?.end();
  }
  const conflicts = counts.conflict === 0 ? '' : `, ${counts.conflict} in conflict with another violation`;
  return {
    json: { file, rows, ...counts },
    lines: [
      `${rows} rows: ${counts.created} added, ${counts.already_known} known already, ${counts.invalid} invalid${conflicts}.`,
      ...(shortened > 0
        ? [`${shortened} rows have an id that a spreadsheet seems to have shortened; see the results.`]
        : []),
    ],
    exitCode: counts.invalid + counts.conflict > 0 ? EXIT.refused : EXIT.done,
  };
}

async function resultsOf(call: Invocation, rows: readonly ImportedRow[]) {
  const calls = Array.from({ length: Math.ceil(rows.length / ROWS_PER_CALL) }, (_, at) =>
    send(call, rows.slice(at * ROWS_PER_CALL, (at + 1) * ROWS_PER_CALL)),
  );
  return (await Promise.all(calls)).flat();
}

async function send(call: Invocation, rows: readonly ImportedRow[]) {
  const violations = rows.flatMap(({ row }) => (row.kind === 'valid' ? [row.violation] : []));
  const answered = violations.length === 0 ? [] : (await add(call, violations)).items;
  let at = 0;
  return rows.map((row): { row: ImportedRow; result: RowResult } => {
    if (row.row.kind === 'invalid')
      return { row, result: { result: 'invalid', id: '', problem: problems(row.row.problem, row) } };
    const answer = answered[at++];
    if (answer === undefined) throw new Error('the answer has fewer results than there were violations');
    const { id, result, fields = [] } = answer;
    const other = fields.length === 0 ? '' : `the violation with this name has another ${fields.join(', ')}`;
    return { row, result: { id, result, problem: problems(other, row) } };
  });
}

const problems = (problem: string, row: ImportedRow) => [problem, hintOf(row)].filter((each) => each !== '').join('; ');

/** The key follows from the rows: a call that is repeated after a lost answer gets the answer of the first. */
function add(call: Invocation, violations: KnownViolation[]) {
  const body = { violations };
  const key = `import-${createHash('sha256').update(JSON.stringify(body)).digest('hex')}`;
  return call.client.call(ROUTES.addKnownViolations, { body, key });
}

/** The results of an import: one line per row of its file, in the same order. */

const HEADER = csvLine(['row', 'violation_reference_id', 'metadata_id', 'result', 'id', 'problem']);

interface RowResult {
  readonly result: 'created' | 'already_known' | 'conflict' | 'invalid';
  /** Our id of the violation, '' when it is invalid. */
  readonly id: string;
  readonly problem: string;
}

interface ImportResults {
  /** Begins the file, in place of earlier results. */
  begin(): Promise<void>;
  append(results: readonly { readonly row: ImportedRow; readonly result: RowResult }[]): Promise<void>;
}

/** Throws UsageError for a file that exists and holds anything but results. */
async function openResults(file: string): Promise<ImportResults> {
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
