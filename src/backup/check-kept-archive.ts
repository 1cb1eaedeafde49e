import { join } from 'node:path';
import { archiveFiles, archiveFolder, type ArchiveFile } from '../archive/files';
import { countBatches } from '../archive/read';
import { ArchiveBroken, ArchiveKeyMissing, readFileBatches } from '../archive/read-file';
import { notesOf, type Finding } from '../cli';
import { auditLineOf } from '../domain/ops/audit-chain';
import type { DataKeys } from '../platform/data-keys';
import { createAuditStore } from '../store/ops/audit';
import type { Redis } from '../store/redis/connect';
import { dataKeysOf } from '../store/redis/at-rest';

/**
 * Checks that the archive of a DATA_DIR ends before the audit of a backup does. The restored Redis gives the numbers after
 * its last audit entry again. An archive that has other entries under these numbers would break the chain.
 */
export async function checkKeptArchive(
  backup: { readonly redis: Redis; readonly dataDir: string },
  dataDir: string,
): Promise<Finding> {
  const notes = notesOf('data_dir');
  const kept = await createAuditStore(backup.redis).lines();
  const lastSeq = auditLineOf(kept.at(-1) ?? '')?.seq ?? 0;
  const later: string[] = [];
  for (const file of await archiveFiles(dataDir)) {
    const after = { seq: lastSeq, batches: await countBatches(copyOf(file, backup.dataDir)) };
    if (await mayHaveEntries(file, after, dataKeysOf(backup.redis))) later.push(file.name);
  }
  if (later.length === 0) return notes.fine('not_later', 'its archive has no audit entry later than the backup');
  return notes.fault(
    'audit_later',
    `its archive has audit entries later than the backup (files: ${later.length}), whose numbers would be given again`,
    `Move them out of ${archiveFolder(dataDir)}, or set DATA_DIR to an empty folder: ${later.join(', ')}`,
  );
}

function copyOf({ name }: ArchiveFile, backupDir: string): Pick<ArchiveFile, 'name' | 'path'> {
  return { name, path: join(archiveFolder(backupDir), name) };
}

/** Whether a file has audit entries after `seq`. The first batches are those of the backup. */
async function mayHaveEntries(
  file: ArchiveFile,
  after: { readonly seq: number; readonly batches: number },
  keys: DataKeys | null,
): Promise<boolean> {
  let batches = 0;
  try {
    for await (const section of readFileBatches(file)) {
      if (section.kind === 'torn') continue;
      batches += 1;
      if (batches <= after.batches || section.counts.audit === 0) continue;
      const records = await section.records(keys);
      if (records.some(({ type, id }) => type === 'audit' && Number(id) > after.seq)) return true;
    }
  } catch (error) {
    if (error instanceof ArchiveKeyMissing) return true;
    // The restore replaces the file if the backup has more of it. Nothing behind the fault can be read.
    if (!(error instanceof ArchiveBroken)) throw error;
  }
  return false;
}
