import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startArchiver, type ArchiverTools } from '../../src/archive/archiver';
import { archiveFolder } from '../../src/archive/files';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createMetrics } from '../../src/platform/log/metrics';
import { createLocks } from '../../src/store/redis/locks';
import { eventually } from '../support/eventually';
import { createCanceledTow, useRetention, type Retention } from '../support/retention';
import type { Stores } from '../support/stores';
import { idsIn, writeBatches } from './folder';

let stores: Stores;
let retention: Retention;
const dataDir = useRetention((opened) => {
  ({ stores, retention } = opened);
});

/** Starts an archiver on a folder that notes what it logs. */
function start(into: string, logged: string[], also: Partial<ArchiverTools> = {}) {
  const note = (event: string) => logged.push(event);
  return startArchiver({
    ...retention.tools,
    locks: createLocks(stores.redis, systemClock),
    task: { open: () => Promise.resolve(), close: () => Promise.resolve() },
    dataDir: into,
    keys: null,
    clock: systemClock,
    log: { ...silentLog, error: note, warn: note },
    metrics: createMetrics(),
    ...also,
  });
}

/** Runs an archiver on a folder until it has reached `until` or logged something. Returns what it logged. */
async function archive(into: string, until: () => Promise<boolean>, also: Partial<ArchiverTools> = {}) {
  const logged: string[] = [];
  const archiver = start(into, logged, also);
  try {
    await eventually(async () => expect(logged.length > 0 || (await until())).toBe(true));
  } finally {
    await archiver.stop();
  }
  return logged;
}

const NEVER = () => Promise.resolve(false);

test('a failing archive is logged even if its task cannot be opened', async () => {
  await createCanceledTow(stores, 'T1');
  const blocked = join(dataDir.path, 'a-file');
  await writeFile(blocked, '');

  const open = () => Promise.reject(new Error('OOM played by a test'));
  const logged = await archive(blocked, NEVER, { task: { open, close: () => Promise.resolve() } });

  expect(logged).toEqual(['archive.failed', 'retention.failed']);
});

test('archiving goes on under the next number when the numbers of files start again, as after a restore', async () => {
  await createCanceledTow(stores, 'T1');
  for (const epoch of [1, 2, 4]) await writeBatches(dataDir.path, [[`earlier-${epoch}`]], { epoch, nowMs: Date.now() });
  const isArchived = async () => (await idsIn(dataDir.path)).includes('T1');

  expect(await archive(dataDir.path, isArchived)).toEqual([]);

  expect(await idsIn(dataDir.path)).toEqual(expect.arrayContaining(['earlier-1', 'earlier-2', 'earlier-4', 'T1']));
});

test('an archive whose folder is a file is a failing archive', async () => {
  await createCanceledTow(stores, 'T1');
  await writeFile(archiveFolder(dataDir.path), '');

  expect(await archive(dataDir.path, NEVER)).toEqual(['archive.failed']);
});

test('after a timeout of Redis the next sweep follows before the pause between two sweeps is over', async () => {
  await createCanceledTow(stores, 'T1');
  const store = retention.tools.retention;
  let lists = 0;
  const finished: typeof store.finished = (...of) => {
    lists += 1;
    return lists === 1 ? Promise.reject(new Error('Command timed out')) : store.finished(...of);
  };
  const logged: string[] = [];
  const archiver = start(dataDir.path, logged, { retention: { ...store, finished } });
  try {
    await eventually(async () => expect(await idsIn(dataDir.path)).toContain('T1'), 30_000);
  } finally {
    await archiver.stop();
  }
  expect(logged).toEqual(['retention.failed']);
});
