import { open, stat, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { riyadhDate, isoTimestamp } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { FILE_MODE, makeFolder, syncFolder } from '../platform/folders';
import type { Archive } from '../workflow/ops/retention';
import { countsOf, linesOf, batchOf } from './batch';
import { archiveFileName, archiveFolder } from './files';
import { compressMember } from './member';
import { errorCode, errorMessage } from '../platform/errors';

export interface ArchiveWriter extends Archive {
  /**
   * Appends records as one batch; calls must not overlap. Rejects with ArchiveFailed, after which this writer is
   * unusable: bytes after a failed write cannot be trusted, so the next writer begins a new file.
   */
  append: Archive['append'];
  close(): Promise<void>;
}

/** The archive did not store a batch: the disk is full, or DATA_DIR is not writable. */
export class ArchiveFailed extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = 'ArchiveFailed';
  }
}

/**
 * There is a file of this day and epoch. Epochs start again with another Redis, such as a restored one. The next writer
 * has a higher epoch.
 */
export class ArchiveFileExists extends ArchiveFailed {
  override readonly name = 'ArchiveFileExists';
}

interface OpenFile {
  readonly date: string;
  readonly name: string;
  readonly path: string;
  readonly handle: FileHandle;
  /** The hash of its last digest; '' before the first complete batch. */
  hash: string;
}

/** Of a file that was closed to be rewritten: an append that was not acknowledged before fails. */
export const CLOSED_FILE_MODE = 0o400;
const OWNER_WRITES = 0o200n;

export interface ArchiveWriterOptions {
  readonly dataDir: string;
  readonly epoch: number;
  readonly clock: Clock;
  /** None by default. */
  readonly keys?: DataKeys | null;
}

/**
 * The only writer of the files of `epoch`, a number that no other writer has (store/redis/locks.ts). It never opens an
 * existing file, so two writers would share none even if epochs started again.
 */
export function createArchiveWriter(options: ArchiveWriterOptions): ArchiveWriter {
  const { dataDir, epoch, clock, keys = null } = options;
  let current: OpenFile | null = null;
  let hasFailed = false;

  const close = async () => {
    const closing = current;
    current = null;
    await closing?.handle.close();
  };

  const fileOf = async (date: string): Promise<OpenFile> => {
    if (current?.date === date) return current;
    await close();
    const folder = resolve(archiveFolder(dataDir));
    const created = await makeFolder(folder);
    const name = archiveFileName(date, epoch);
    const path = join(folder, name);
    current = { date, name, path, handle: await openNew(path), hash: '' };
    await syncFolders(folder, created === undefined ? dirname(folder) : dirname(resolve(created)));
    return current;
  };

  const abandon = async () => {
    hasFailed = true;
    const abandoned = current;
    await close().catch(() => {});
    // Nothing in the file was acknowledged. Without this a full disk would collect empty files.
    if (abandoned?.hash === '') await unlink(abandoned.path).catch(() => {});
  };

  return {
    async append(records) {
      if (hasFailed) throw new ArchiveFailed('this writer failed before', 'EBADF');
      if (records.length === 0) return;
      const nowMs = clock.nowMs();
      try {
        const file = await fileOf(riyadhDate(nowMs));
        const archivedAt = isoTimestamp(nowMs);
        const lines = linesOf(records.map((record) => ({ ...record, archived_at: archivedAt })));
        const place = { file: file.name, previous: file.hash };
        const batch = await batchOf(lines, { counts: countsOf(records), place, keys });
        await file.handle.appendFile(await compressMember(batch.text));
        await file.handle.sync();
        await requireOpen(file);
        file.hash = batch.hash;
      } catch (error) {
        await abandon();
        if (error instanceof ArchiveFailed) throw error;
        throw new ArchiveFailed(errorMessage(error), errorCode(error) ?? 'EIO');
      }
    },
    close,
  };
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'ax', FILE_MODE);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new ArchiveFileExists(errorMessage(error), 'EEXIST');
    throw error;
  }
}

/**
 * A process that was frozen may append to a file that was closed or replaced meanwhile, or a person has moved. Then
 * its records must stay in Redis. Called after the bytes are on the disk: a command that closes the file
 * later reads them.
 *
 * @throws an error when the file is closed or has lost its name.
 */
async function requireOpen({ path, handle }: OpenFile): Promise<void> {
  const [named, opened] = await Promise.all([stat(path, { bigint: true }), handle.stat({ bigint: true })]);
  const isOpen = named.ino === opened.ino && (opened.mode & OWNER_WRITES) !== 0n;
  if (!isOpen) throw new Error('the file was closed or replaced while it was written');
}

/** Flushes a folder and its parents up to `top`. */
async function syncFolders(folder: string, top: string): Promise<void> {
  await syncFolder(folder);
  if (folder !== top) await syncFolders(dirname(folder), top);
}
