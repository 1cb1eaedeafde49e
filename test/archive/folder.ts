import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ArchivedRecord } from '../../src/contracts/ops/archive';
import { readArchive, type ArchiveFilter } from '../../src/archive/read';
import { createArchiveWriter } from '../../src/archive/write';
import type { Clock } from '../../src/platform/clock';
import { systemClock } from '../../src/platform/clock';
import type { DataKeys } from '../../src/platform/data-keys';
import type { NewArchivedRecord } from '../../src/workflow/ops/retention';

/** 2026-03-10 in Riyadh as in UTC. */
export const NOON_MS = Date.UTC(2026, 2, 10, 12);

/** A DATA_DIR for each test of a file; gone after it. */
export function useDataDir(): { readonly path: string } {
  let path = '';
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), 'towhook-archive-'));
  });
  afterEach(() => rm(path, { recursive: true, force: true }));
  return {
    get path() {
      return path;
    },
  };
}

/** A clock with a fixed time that changes only by `move`. */
export function clockAt(nowMs: number): Clock & { nowMs: () => number; move(ms: number): void } {
  let at = nowMs;
  return {
    ...systemClock,
    nowMs: () => at,
    move(ms) {
      at += ms;
    },
  };
}

export function delivery(id: string, words = 'a body'): NewArchivedRecord {
  return { type: 'delivery', id, data: { rawBody: words } };
}

/** Writes batches of deliveries as one writer and closes. */
export async function writeBatches(
  dataDir: string,
  batches: readonly (readonly string[])[],
  { epoch = 1, nowMs = NOON_MS, keys = null }: { epoch?: number; nowMs?: number; keys?: DataKeys | null } = {},
): Promise<void> {
  const writer = createArchiveWriter({ dataDir, epoch, clock: clockAt(nowMs), keys });
  for (const ids of batches) await writer.append(ids.map((id) => delivery(id)));
  await writer.close();
}

export async function readAll(dataDir: string, filter?: ArchiveFilter): Promise<ArchivedRecord[]> {
  const records: ArchivedRecord[] = [];
  for await (const record of readArchive(dataDir, filter)) records.push(record);
  return records;
}

export async function idsIn(dataDir: string, filter?: ArchiveFilter): Promise<string[]> {
  return (await readAll(dataDir, filter)).map(({ id }) => id);
}
