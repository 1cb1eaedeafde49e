import type { ArchivedRecord, ArchivedType } from '../contracts/archive';
import { ArchiveBroken } from './broken';
import { archiveFiles, type Days } from './files';
import { readFileBatches } from './read-file';

/** Which records of the archive are wanted; all of them unless told. */
export interface ArchiveFilter extends Days {
  readonly type?: ArchivedType | undefined;
  readonly id?: string | undefined;
  /** Is told of a batch at the end of a file that a crash cut short, or that is being written right now. */
  readonly onTorn?: (torn: TornBatch) => void;
}

/** Bytes at the end of a file that were never acknowledged as archived. */
export interface TornBatch {
  readonly file: string;
  readonly bytes: number;
}

/**
 * The records of the archive in the order they were written, one batch in memory at a time. Every seal is verified
 * before its records are handed out: throws ArchiveBroken, naming file and batch, at the first that is not as it was
 * written. A record may come twice, since a crash may part archiving from deleting: of one type and id the last counts.
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

/** What a walk over the whole archive found. */
export interface ArchiveReport {
  readonly files: number;
  readonly batches: number;
  readonly records: Readonly<Record<ArchivedType, number>>;
  readonly torn: readonly TornBatch[];
  /** One for each file that is not as it was written; what stands behind the fault in it was not looked at. */
  readonly broken: readonly ArchiveBroken[];
}

/** Verifies every batch of every file; never throws for what it finds in them. */
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
