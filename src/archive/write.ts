import { open, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { riyadhDate } from '../domain/moment';
import type { Clock } from '../platform/clock';
import { makeFolder } from '../platform/make-folder';
import type { Archive } from '../workflow/retention-port';
import { sealBatch } from './batch';
import { archiveFileName, archiveFolder } from './files';
import { memberOf } from './member';
import { codeOf, messageOf } from '../platform/system-error';

export interface ArchiveWriter extends Archive {
  /**
   * Appends records as one batch. Never two at a time. Rejects with ArchiveFailed, after which this writer writes no
   * more: what stands behind a failed write cannot be trusted, so its follower begins a file of its own.
   */
  append: Archive['append'];
  close(): Promise<void>;
}

/** The archive could not take a batch: the disk is full, DATA_DIR cannot be written to, or the file is another writer's. */
export class ArchiveFailed extends Error {
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
    this.name = 'ArchiveFailed';
  }
}

interface OpenFile {
  readonly date: string;
  readonly path: string;
  readonly handle: FileHandle;
  /** The hash of its last seal; '' while nothing whole stands in it. */
  sealHash: string;
}

/** Personal data lies in the archive: nobody but the user of the process reads it. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/**
 * The one writer of the files of `epoch`, a number that no other writer was ever given (store/locks.ts). A file that is
 * already there is never opened, so two writers share none even if the numbers began anew.
 */
export function createArchiveWriter(options: { dataDir: string; epoch: number; clock: Clock }): ArchiveWriter {
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
    const folder = resolve(archiveFolder(options.dataDir));
    const created = await makeFolder(folder, FOLDER_MODE);
    const path = join(folder, archiveFileName(date, options.epoch));
    current = { date, path, handle: await open(path, 'ax', FILE_MODE), sealHash: '' };
    await syncFolders(folder, created === undefined ? dirname(folder) : dirname(resolve(created)));
    return current;
  };

  const abandon = async () => {
    hasFailed = true;
    const abandoned = current;
    await close().catch(() => {});
    // Nothing in it was ever acknowledged. On a full disk every try would leave another empty file.
    if (abandoned?.sealHash === '') await unlink(abandoned.path).catch(() => {});
  };

  return {
    async append(records) {
      if (hasFailed) throw new ArchiveFailed('this writer failed before', 'EBADF');
      if (records.length === 0) return;
      const nowMs = options.clock.nowMs();
      try {
        const file = await fileOf(riyadhDate(nowMs));
        const archivedAt = new Date(nowMs).toISOString();
        const batch = sealBatch(
          records.map((record) => ({ ...record, archived_at: archivedAt })),
          file.sealHash,
        );
        await file.handle.appendFile(await memberOf(batch.text));
        await file.handle.sync();
        file.sealHash = batch.sealHash;
      } catch (error) {
        await abandon();
        throw new ArchiveFailed(messageOf(error), codeOf(error) ?? 'EIO');
      }
    },
    close,
  };
}

/** A new name is on disk once its folder is: syncs a folder and those above it, up to `top`. */
async function syncFolders(folder: string, top: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (folder !== top) await syncFolders(dirname(folder), top);
}
