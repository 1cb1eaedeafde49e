import { createHash } from 'node:crypto';
import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { riyadhDate } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { nullIfAbsent } from '../platform/errors';
import { FILE_MODE, makeFolder, syncFolder } from '../platform/folders';
import { sealBatch } from './batch';
import { isPersonal } from './encryption';
import { archiveFiles, type ArchiveFile } from './files';
import { compressMember } from './member';
import { ArchiveBroken, ArchiveKeyMissing, readBatches, readFileBatches, type FileBatch } from './read-file';
import { CLOSED_FILE_MODE } from './write';

/** Encrypts the batches of the archive under the first key, beside processes that read and write it. */

export interface ArchiveResealOptions {
  readonly keys: DataKeys;
  readonly clock: Pick<Clock, 'id' | 'nowMs'>;
  /** Where drafts are written: a folder on the disk of the archive whose files `reseal.*` are removed by a sweep. */
  readonly draftFolder: string;
  /** The fencing number of the process that archives now, null without one; read after the files are listed. */
  readonly activeEpoch: () => Promise<number | null>;
  /** Called for each file. */
  readonly onFile: () => void;
}

/**
 * Rewrites each file that has a plain batch with personal data, a batch under another key or a torn one, with the same
 * batches and new seals. Left as they are: the file that the archiving process appends to today, and files with a batch
 * that cannot be opened. May be ended and repeated at any time. Returns what is broken in the files that it read.
 */
export async function resealArchive(dataDir: string, options: ArchiveResealOptions): Promise<readonly ArchiveBroken[]> {
  const broken: ArchiveBroken[] = [];
  const files = await archiveFiles(dataDir);
  const activeEpoch = await options.activeEpoch();
  const today = riyadhDate(options.clock.nowMs());
  for (const file of files) {
    const mayGrow = file.epoch === activeEpoch && file.date >= today;
    if (!mayGrow)
      await resealFile(file, options).catch((error: unknown) => {
        if (error instanceof ArchiveBroken) broken.push(error);
        else if (!(error instanceof ArchiveKeyMissing)) throw error;
      });
    options.onFile();
  }
  return broken;
}

/** What must be the same in the file and in its draft. */
interface ArchivedContent {
  readonly batches: number;
  /** The SHA-256 of the lines of all records. */
  readonly sha256: string;
}

/** @throws ArchiveKeyMissing, ArchiveBroken for a batch that cannot be opened; the file stays as it was. */
async function resealFile(file: ArchiveFile, { keys, clock, draftFolder }: ArchiveResealOptions): Promise<void> {
  // Of a symbolic link the file that it names is replaced, so that no plain copy is left there.
  const path = await realpath(file.path).catch(nullIfAbsent);
  const handle = path && (await open(path, 'r').catch(nullIfAbsent));
  if (!path || !handle) return;
  const draft = join(draftFolder, `reseal.${clock.id()}`);
  try {
    if (!(await needsReseal(handle, { file, keys }))) return;
    await makeFolder(draftFolder);
    // From now on the append of a process that was frozen fails, so the bytes that are read next are all that count.
    await handle.chmod(CLOSED_FILE_MODE);
    const closed = await handle.stat({ bigint: true });
    const written = await writeDraft(handle, { size: Number(closed.size), file, draft, keys });
    await requireSame(written, { ...file, path: draft }, keys);
    // A person may have moved it elsewhere, or another run replaced it.
    const named = await stat(path, { bigint: true }).catch(nullIfAbsent);
    if (named?.ino !== closed.ino || named.size !== closed.size) return;
    await rename(draft, path);
    await syncFolder(dirname(path));
  } finally {
    await handle.close();
    await rm(draft, { force: true });
  }
}

async function needsReseal(
  handle: FileHandle,
  { file, keys }: { readonly file: ArchiveFile; readonly keys: DataKeys },
): Promise<boolean> {
  const { size } = await handle.stat();
  for await (const section of readBatches(handle, { name: file.name, size })) {
    // A torn batch may hold personal data, and its records were never removed from Redis.
    if (section.kind === 'torn' || isStale(section, keys)) return true;
  }
  return false;
}

function isStale({ counts, keyId }: FileBatch, keys: DataKeys): boolean {
  return keyId === null ? isPersonal(counts) : keyId !== keys.first;
}

interface DraftOptions {
  readonly size: number;
  readonly file: ArchiveFile;
  readonly draft: string;
  readonly keys: DataKeys;
}

/** Writes the batches of the first `size` bytes of a file, one in memory at a time. */
async function writeDraft(from: FileHandle, { size, file, draft, keys }: DraftOptions): Promise<ArchivedContent> {
  const hash = createHash('sha256');
  let [batches, previous] = [0, ''];
  const to = await open(draft, 'w', FILE_MODE);
  try {
    for await (const section of readBatches(from, { name: file.name, size })) {
      if (section.kind === 'torn') break;
      const lines = await section.lines(keys);
      const place = { file: file.name, previous };
      const batch = await sealBatch(lines, { counts: section.counts, place, keys });
      await to.appendFile(await compressMember(batch.text));
      hash.update(lines);
      previous = batch.sealHash;
      batches += 1;
    }
    const { uid, gid } = await from.stat();
    // The roles may run as another user than this command.
    if ((await to.stat()).uid !== uid) await to.chown(uid, gid);
    await to.sync();
  } finally {
    await to.close();
  }
  return { batches, sha256: hash.digest('hex') };
}

/** Reads a draft as every reader would, before it replaces its file. @throws an error when it lacks something. */
async function requireSame(expected: ArchivedContent, draft: ArchiveFile, keys: DataKeys): Promise<void> {
  const found = await contentOf(draft, keys).catch(() => null);
  if (found?.batches === expected.batches && found.sha256 === expected.sha256) return;
  throw new Error(`${draft.name}: the rewritten file does not hold the same records; the file stays as it was`);
}

async function contentOf(file: ArchiveFile, keys: DataKeys): Promise<ArchivedContent> {
  const hash = createHash('sha256');
  let batches = 0;
  for await (const section of readFileBatches(file)) {
    if (section.kind === 'torn') break;
    hash.update(await section.lines(keys));
    batches += 1;
  }
  return { batches, sha256: hash.digest('hex') };
}

/** The batches of the archive by their keys, and the files that cannot be read to their end. */
export interface ArchiveKeys {
  /** One for each batch with personal data: the id of its key, null for a plain one. */
  readonly ids: readonly (string | null)[];
  readonly broken: readonly ArchiveBroken[];
}

export async function archiveKeys(dataDir: string): Promise<ArchiveKeys> {
  const ids: (string | null)[] = [];
  const broken: ArchiveBroken[] = [];
  for (const file of await archiveFiles(dataDir)) {
    try {
      for await (const section of readFileBatches(file)) {
        if (section.kind === 'batch' && (section.keyId !== null || isPersonal(section.counts))) ids.push(section.keyId);
      }
    } catch (error) {
      if (error instanceof ArchiveBroken) broken.push(error);
      // A person may have moved it elsewhere.
      else nullIfAbsent(error);
    }
  }
  return { ids, broken };
}
