import { ARCHIVED_TYPES, type ArchivedRecord, type ArchivedType, type RecordCounts } from '../contracts/ops/archive';
import type { DataKeys } from '../platform/data-keys';
import { errorCode } from '../platform/errors';
import { ArchiveBroken, ArchiveKeyMissing, readFileBatches } from './read-file';
import { archiveFiles, type ArchiveFile, type Days } from './files';

/** A selection of archived records; all by default. */
export interface ArchiveFilter extends Days {
  readonly type?: ArchivedType | undefined;
  readonly id?: string | undefined;
  /** None by default. */
  readonly keys?: DataKeys | null;
  /** Called for a truncated batch at the end of a file. */
  readonly onTorn?: (torn: TornBatch) => void;
  /** Called for a changed batch; the rest of its file is left out. Without it, reading ends there. */
  readonly onBroken?: (broken: ArchiveBroken) => void;
}

/** Bytes at the end of a file that were never acknowledged as archived. */
export interface TornBatch {
  readonly file: string;
  readonly bytes: number;
}

/**
 * The archived records in the order they were written, one batch in memory at a time. Every digest is verified before its
 * records are returned. A record may occur twice, because a crash may come between archiving and deleting; the last one
 * of a type and id counts. A batch without a record of the type is not read, so its key is not needed.
 *
 * @throws ArchiveBroken at the first changed batch without `onBroken`, ArchiveKeyMissing at the first one whose key is
 *   missing.
 */
export async function* readArchive(dataDir: string, filter: ArchiveFilter = {}): AsyncGenerator<ArchivedRecord> {
  for (const file of await archiveFiles(dataDir, filter)) {
    try {
      yield* readRecords(file, filter);
    } catch (error) {
      if (!(error instanceof ArchiveBroken) || !filter.onBroken) throw error;
      filter.onBroken(error);
    }
  }
}

async function* readRecords(file: ArchiveFile, filter: ArchiveFilter): AsyncGenerator<ArchivedRecord> {
  const { type, keys = null, onTorn } = filter;
  for await (const section of readFileBatches(file)) {
    if (section.kind === 'torn') {
      onTorn?.({ file: file.name, bytes: section.bytes });
      continue;
    }
    if (type !== undefined && section.counts[type] === 0) continue;
    yield* (await section.records(keys)).filter((record) => isWanted(record, filter));
  }
}

function isWanted(record: ArchivedRecord, { type, id }: ArchiveFilter): boolean {
  return (type === undefined || record.type === type) && (id === undefined || record.id === id);
}

/** The result of a verification. */
export interface ArchiveReport {
  readonly files: number;
  readonly batches: number;
  /** Of batches that were not read, as they state it. */
  readonly records: RecordCounts;
  readonly torn: readonly TornBatch[];
  /** Intact batches that were not read, by the ids of the keys that are missing. */
  readonly unopened: Readonly<Record<string, number>>;
  /** One per changed file; the rest of that file was not read. */
  readonly broken: readonly ArchiveBroken[];
}

/** Verifies every batch of every file, and reads those for which there is a key. Does not throw for changed batches. */
export async function verifyArchive(
  dataDir: string,
  { keys = null, ...days }: Days & Pick<ArchiveFilter, 'keys'> = {},
): Promise<ArchiveReport> {
  const records = { tow: 0, delivery: 0, violation: 0, audit: 0 };
  const [torn, broken]: [TornBatch[], ArchiveBroken[]] = [[], []];
  const unopened = new Map<string, number>();
  let batches = 0;
  const files = await archiveFiles(dataDir, days);
  for (const file of files) {
    try {
      for await (const section of readFileBatches(file)) {
        if (section.kind === 'torn') {
          torn.push({ file: file.name, bytes: section.bytes });
          continue;
        }
        const { counts, keyId } = section;
        if (keyId !== null && !(await isReadable(section.records(keys)))) {
          unopened.set(keyId, (unopened.get(keyId) ?? 0) + 1);
        }
        batches += 1;
        for (const type of ARCHIVED_TYPES) records[type] += counts[type];
      }
    } catch (error) {
      if (!(error instanceof ArchiveBroken)) throw error;
      broken.push(error);
    }
  }
  return { files: files.length, batches, records, torn, unopened: Object.fromEntries(unopened), broken };
}

async function isReadable(reading: Promise<unknown>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (error instanceof ArchiveKeyMissing) return false;
    throw error;
  }
}

/** The number of intact batches at the beginning of a file; 0 without the file. Needs no key. */
export async function countBatches(file: Pick<ArchiveFile, 'name' | 'path'>): Promise<number> {
  let batches = 0;
  try {
    for await (const { kind } of readFileBatches(file)) batches += kind === 'batch' ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ArchiveBroken) && errorCode(error) !== 'ENOENT') throw error;
  }
  return batches;
}
