import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import type { DataKeys } from '../../src/platform/data-keys';
import { silentLog, type Log } from '../../src/platform/log/log';
import { createSpool, type SharedMarker } from '../../src/spool';

/** Folders that are gone after each test. */
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
});

export async function newFolder(above = tmpdir()): Promise<string> {
  const folder = await mkdtemp(join(above, 'towhook-spool-'));
  folders.push(folder);
  return folder;
}

/** The shared store, as far as the spool knows it. */
export function sharedMarker(): SharedMarker {
  let id: string | null = null;
  let raisedMs: number | null = null;
  return {
    read: () => Promise.resolve(id),
    claim: (claimed, { alarmMs }) => {
      if (id === null) raisedMs = alarmMs;
      id ??= claimed;
      return Promise.resolve(id);
    },
    alarmMs: () => Promise.resolve(raisedMs),
  };
}

/** How long images without a record stay in place. */
export const KEEP_MS = 48 * 3_600_000;

export function openSpool(
  dataDir: string,
  marker: SharedMarker = sharedMarker(),
  nowMs = () => systemClock.nowMs(),
  log: Log = silentLog,
  keys: DataKeys | null = null,
) {
  return createSpool({ dataDir, keys, marker, keepMs: KEEP_MS, clock: { ...systemClock, nowMs }, log });
}

/** Bytes as they come over a wire. */
export async function* pieces(...parts: readonly (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield await Promise.resolve(Buffer.from(part));
}

/** Every file below a folder, by its path in it; none where there is no folder. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted((a, b) => a.localeCompare(b));
}
