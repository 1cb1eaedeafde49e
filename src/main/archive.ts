import { parseArgs } from 'node:util';
import { ArchiveBroken } from '../archive/broken';
import { archiveFolder } from '../archive/files';
import { readArchive, verifyArchive, type ArchiveFilter, type TornBatch } from '../archive/read';
import { ARCHIVED_TYPES, type ArchivedRecord } from '../contracts/archive';
import { ConfigurationError, loadConfig } from '../platform/config';
import { printLine, printLines, printProblem } from '../platform/terminal';

/**
 * `npm run archive -- read` prints records of the archive as NDJSON, `npm run archive -- verify` checks every seal. Reads
 * DATA_DIR alone: no Redis is needed. Exit codes: 0 as it should be, 1 something is not as it was written, or cannot be
 * read, 2 wrong usage or configuration.
 */
const EXIT = { fine: 0, broken: 1, usage: 2 } as const;

const USAGE = `Usage: npm run archive -- read [--type ${ARCHIVED_TYPES.join('|')}] [--id ID] [--from YYYY-MM-DD] [--to YYYY-MM-DD]
       npm run archive -- verify [--from YYYY-MM-DD] [--to YYYY-MM-DD]
Days are those on which records were archived, in Asia/Riyadh. Of a record that comes twice the last one counts; with --id
only that one is printed.`;

type Request = { readonly verb: 'read' | 'verify'; readonly filter: ArchiveFilter };

/** What was asked for; null when that cannot be told. */
function requestOf(given: readonly string[]): Request | null {
  try {
    const text = { type: 'string' } as const;
    const { positionals, values } = parseArgs({
      args: [...given],
      allowPositionals: true,
      options: { type: text, id: text, from: text, to: text },
    });
    const [verb, ...more] = positionals;
    const { id, from, to } = values;
    const type = ARCHIVED_TYPES.find((known) => known === values.type);
    const isDay = (day: string | undefined) => day === undefined || /^\d{4}-\d{2}-\d{2}$/.test(day);
    if (more.length > 0 || !isDay(from) || !isDay(to) || (values.type !== undefined && !type)) return null;
    if (verb === 'read') return { verb, filter: { type, id, from, to } };
    return verb === 'verify' && type === undefined && id === undefined ? { verb, filter: { from, to } } : null;
  } catch {
    return null;
  }
}

async function main(): Promise<number> {
  const request = requestOf(process.argv.slice(2));
  if (!request) {
    printProblem(USAGE);
    return EXIT.usage;
  }
  try {
    const { dataDir } = loadConfig();
    return request.verb === 'read' ? await read(dataDir, request.filter) : await verify(dataDir, request.filter);
  } catch (error) {
    if (error instanceof ConfigurationError) {
      printProblem(`The configuration is wrong:\n${error.message}`);
      return EXIT.usage;
    }
    printProblem(error instanceof ArchiveBroken ? `Not as it was written: ${error.message}` : wordsOf(error));
    return EXIT.broken;
  }
}

async function read(dataDir: string, filter: ArchiveFilter): Promise<number> {
  const records = readArchive(dataDir, { ...filter, onTorn: (torn) => printProblem(wordsOfTorn(torn)) });
  const wanted = filter.id === undefined ? records : lastOfEachType(records);
  const lines = async function* () {
    for await (const record of wanted) yield JSON.stringify(record);
  };
  await printLines(lines());
  return EXIT.fine;
}

/** Of the records of one id only those that count. */
async function* lastOfEachType(records: AsyncIterable<ArchivedRecord>): AsyncGenerator<ArchivedRecord> {
  const last = new Map<string, ArchivedRecord>();
  for await (const record of records) last.set(record.type, record);
  yield* last.values();
}

async function verify(dataDir: string, days: ArchiveFilter): Promise<number> {
  const report = await verifyArchive(dataDir, days);
  const { tow, delivery, violation, audit } = report.records;
  printLine(`Folder: ${archiveFolder(dataDir)}`);
  printLine(`Files: ${report.files}`);
  printLine(`Batches: ${report.batches}`);
  const kinds = `tows ${tow}, deliveries ${delivery}, violations ${violation}, audit entries ${audit}`;
  printLine(`Records: ${tow + delivery + violation + audit} (${kinds})`);
  printLine(`Torn batches: ${report.torn.length}`);
  for (const torn of report.torn) printLine(wordsOfTorn(torn));
  for (const broken of report.broken) printProblem(`Not as it was written: ${broken.message}`);
  return report.broken.length === 0 ? EXIT.fine : EXIT.broken;
}

/** No loss: nothing is deleted from Redis before its batch is whole. */
function wordsOfTorn({ file, bytes }: TornBatch): string {
  return `${file}: the last ${bytes} bytes are a batch cut short by a crash, or being written right now; skipped`;
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The archive cannot be read.';
}

void main().then((exitCode) => process.exit(exitCode));
