import { createHash } from 'node:crypto';
import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { riyadhDate } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { nullIfAbsent } from '../platform/errors';
import { makeFolder, syncFolder, writeNewFile } from '../platform/folders';
import { batchOf, isPersonal } from './batch';
import { archiveFiles, type ArchiveFile } from './files';
import { compressMember } from './member';
import { ArchiveBroken, ArchiveKeyMissing, readBatches, readFileBatches, type FileBatch } from './read-file';
import { CLOSED_FILE_MODE } from './write';

/** Encrypts the batches of the archive under the first key, beside processes that read and write it. */

/** Called for what is broken in a file; the rest of the file is left out. */
type OnBroken = (broken: ArchiveBroken) => void;

export interface ReencryptArchiveOptions {
  readonly keys: DataKeys;
  readonly clock: Pick<Clock, 'id' | 'nowMs'>;
  /** Where drafts are written: a folder on the disk of the archive whose files `draft.*` are removed by a sweep. */
  readonly draftFolder: string;
  /** The fencing number of the process that archives now, null without one; read after the files are listed. */
  readonly activeEpoch: () => Promise<number | null>;
  /** Called for each file. */
  readonly onStep: () => void;
  readonly onBroken: OnBroken;
}

/** The ids of the keys of batches with personal data, one for each; null for a plain one. */
export async function* batchKeys(dataDir: string, onBroken: OnBroken): AsyncGenerator<string | null> {
  for (const file of await archiveFiles(dataDir)) {
    try {
      for await (const section of readFileBatches(file)) {
        if (section.kind === 'batch' && (section.keyId !== null || isPersonal(section.counts))) yield section.keyId;
      }
    } catch (error) {
      if (error instanceof ArchiveBroken) onBroken(error);
      // A person may have moved it elsewhere.
      else nullIfAbsent(error);
    }
  }
}

/**
 * Rewrites each file that has a plain batch with personal data, a batch under another key or a torn one, with the same
 * batches and new digests. Left as they are: the file that the archiving process appends to today, and files with a
 * batch that cannot be decrypted. May be ended and repeated at any time.
 */
export async function reencryptArchive(dataDir: string, options: ReencryptArchiveOptions): Promise<void> {
  const files = await archiveFiles(dataDir);
  const activeEpoch = await options.activeEpoch();
  const today = riyadhDate(options.clock.nowMs());
  for (const file of files) {
    const mayGrow = file.epoch === activeEpoch && file.date >= today;
    if (!mayGrow)
      await reencryptFile(file, options).catch((error: unknown) => {
        if (error instanceof ArchiveBroken) options.onBroken(error);
        else if (!(error instanceof ArchiveKeyMissing)) throw error;
      });
    options.onStep();
  }
}

/** @throws ArchiveKeyMissing, ArchiveBroken for a batch that cannot be decrypted; the file stays as it was. */
async function reencryptFile(file: ArchiveFile, { keys, clock, draftFolder }: ReencryptArchiveOptions): Promise<void> {
  // Of a symbolic link the file that it names is replaced, so that no plain copy is left there.
  const path = await realpath(file.path).catch(nullIfAbsent);
  const handle = path && (await open(path, 'r').catch(nullIfAbsent));
  if (!path || !handle) return;
  const draft = join(draftFolder, `draft.${clock.id()}`);
  try {
    if (!(await needsReencryption(handle, { file, keys }))) return;
    await makeFolder(draftFolder);
    // From now on the append of a process that was frozen fails, so the bytes that are read next are all that count.
    await handle.chmod(CLOSED_FILE_MODE);
    const closed = await handle.stat({ bigint: true });
    const written = new ArchivedContent();
    const batches = newBatches(handle, { name: file.name, size: Number(closed.size), keys, written });
    await writeNewFile(draft, batches, await stat(path));
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

async function needsReencryption(
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

/** What must be the same in a file and in its draft: the number of batches, and the lines of all records. */
class ArchivedContent {
  readonly #hash = createHash('sha256');
  #batches = 0;

  add(lines: Buffer): void {
    this.#hash.update(lines);
    this.#batches += 1;
  }

  /** May be called once. */
  digest(): string {
    return `${this.#batches} ${this.#hash.digest('hex')}`;
  }
}

interface NewBatchesOptions {
  readonly name: string;
  /** How many bytes of the file count. */
  readonly size: number;
  readonly keys: DataKeys;
  readonly written: ArchivedContent;
}

/** The batches of a file under the first key, one in memory at a time. */
async function* newBatches(
  handle: FileHandle,
  { name, size, keys, written }: NewBatchesOptions,
): AsyncGenerator<Uint8Array> {
  let previous = '';
  for await (const section of readBatches(handle, { name, size })) {
    if (section.kind === 'torn') return;
    const lines = await section.lines(keys);
    const batch = await batchOf(lines, { counts: section.counts, place: { file: name, previous }, keys });
    yield await compressMember(batch.text);
    written.add(lines);
    previous = batch.hash;
  }
}

/** Reads a draft as every reader would, before it replaces its file. @throws an error when it lacks something. */
async function requireSame(written: ArchivedContent, draft: ArchiveFile, keys: DataKeys): Promise<void> {
  const expected = written.digest();
  const found = await contentOf(draft, keys).catch(() => null);
  if (found?.digest() === expected) return;
  throw new Error(`${draft.name}: the rewritten file does not hold the same records; the file stays as it was`);
}

async function contentOf(file: ArchiveFile, keys: DataKeys): Promise<ArchivedContent> {
  const content = new ArchivedContent();
  for await (const section of readFileBatches(file)) {
    if (section.kind === 'torn') break;
    content.add(await section.lines(keys));
  }
  return content;
}
