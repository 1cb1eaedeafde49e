import type { ArchivedRecord, ArchivedType } from '../contracts/archive';
import { ArchiveBroken, readFileBatches } from './read-file';
import { archiveFiles, type Days } from './files';

/** A selection of archived records; all by default. */
export interface ArchiveFilter extends Days {
  readonly type?: ArchivedType | undefined;
  readonly id?: string | undefined;
  /** Called for a truncated batch at the end of a file. */
  readonly onTorn?: (torn: TornBatch) => void;
}

/** Bytes at the end of a file that were never acknowledged as archived. */
export interface TornBatch {
  readonly file: string;
  readonly bytes: number;
}

/**
 * The archived records in the order they were written, one batch in memory at a time. Every seal is verified before its
 * records are returned. A record may occur twice, because a crash may come between archiving and deleting; the last one
 * of a type and id counts.
 *
 * @throws ArchiveBroken at the first changed batch.
 */
export async function* readArchive(dataDir: string, filter: ArchiveFilter = {}): AsyncGenerator<ArchivedRecord> {
  for (const file of await archiveFiles(dataDir, filter)) {
    for await (const stretch of readFileBatches(file)) {
      if (stretch.kind === 'torn') {
        filter.onTorn?.({ file: file.name, bytes: stretch.bytes });
        continue;
      }
      yield* stretch.records.filter((record) => isWanted(record, filter));
    }
  }
}

function isWanted(record: ArchivedRecord, { type, id }: ArchiveFilter): boolean {
  return (type === undefined || record.type === type) && (id === undefined || record.id === id);
}

/** The result of a verification. */
export interface ArchiveReport {
  readonly files: number;
  readonly batches: number;
  readonly records: Readonly<Record<ArchivedType, number>>;
  readonly torn: readonly TornBatch[];
  /** One per changed file; the rest of that file was not read. */
  readonly broken: readonly ArchiveBroken[];
}

/** Verifies every batch of every file. Does not throw for changed batches. */
export async function verifyArchive(dataDir: string, days: Days = {}): Promise<ArchiveReport> {
  const records = { tow: 0, delivery: 0, violation: 0, audit: 0 };
  const [torn, broken]: [TornBatch[], ArchiveBroken[]] = [[], []];
  let batches = 0;
  const files = await archiveFiles(dataDir, days);
  for (const file of files) {
    try {
      for await (const stretch of readFileBatches(file)) {
        if (stretch.kind === 'torn') {
          torn.push({ file: file.name, bytes: stretch.bytes });
          continue;
        }
        batches += 1;
        for (const { type } of stretch.records) records[type] += 1;
      }
    } catch (error) {
      if (!(error instanceof ArchiveBroken)) throw error;
      broken.push(error);
    }
  }
  return { files: files.length, batches, records, torn, broken };
}
