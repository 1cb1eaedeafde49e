import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log';
import { unpackPackage } from './debian-packages';
import { withFolderLock } from './folder-lock';
import { checkServer, type ServerBinary } from './server-binary';

/** Long enough for a slow network to bring package lists and packages. */
const FETCH_WAIT_MS = 5 * 60_000;

/**
 * The Redis server in `cacheFolder`, fetched now if it is not there or does not start (a cache carried over from another
 * machine). Safe to ask for from several processes at once: one fetches, the others wait for it.
 *
 * @throws Error with the reason when none can be had.
 */
export async function privateCopy(
  cacheFolder: string,
  { searchPath, clock, log }: { searchPath: string; clock: Clock; log: Log },
): Promise<ServerBinary> {
  const copy = join(cacheFolder, 'server');
  const kept = await checkCopy(copy);
  if (kept !== null) return kept;
  await mkdir(cacheFolder, { recursive: true });
  return withFolderLock({ file: join(cacheFolder, 'lock'), clock, waitMs: FETCH_WAIT_MS }, async () => {
    const fetchedByAnother = await checkCopy(copy);
    if (fetchedByAnother !== null) return fetchedByAnother;
    log.info('redis_copy.started', { folder: cacheFolder });
    await removeLeftovers(cacheFolder);
    const work = await mkdtemp(join(cacheFolder, 'fetch-'));
    try {
      const root = await unpackPackage('redis-tools', work, searchPath);
      const fresh = await assemble(root, join(work, 'server'));
      // A copy is either whole or not there: it gets its name only when it was seen to start.
      await checkServer(serverPath(fresh), libraryPath(fresh));
      await rm(copy, { recursive: true, force: true });
      await rename(fresh, copy);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
    const server = await checkServer(serverPath(copy), libraryPath(copy));
    log.info('redis_copy.made', { folder: cacheFolder, version: server.version });
    return server;
  });
}

const serverPath = (copy: string) => join(copy, 'bin', 'redis-server');
const libraryPath = (copy: string) => join(copy, 'lib');

async function checkCopy(copy: string): Promise<ServerBinary | null> {
  try {
    return await checkServer(serverPath(copy), libraryPath(copy));
  } catch {
    return null;
  }
}

/** What a fetch that was killed left behind; under the lock nobody else's is in use. */
async function removeLeftovers(cacheFolder: string): Promise<void> {
  const leftovers = (await readdir(cacheFolder)).filter((name) => name.startsWith('fetch-'));
  for (const name of leftovers) await rm(join(cacheFolder, name), { recursive: true, force: true });
}

/** Only what a server needs to run: the program, and the libraries next to each other. */
async function assemble(root: string, copy: string): Promise<string> {
  await mkdir(join(copy, 'bin'), { recursive: true });
  await mkdir(libraryPath(copy));
  // The server, its checking tools and their names are one program, which looks at the name it is called by. The
  // server's own name is in a package that also installs a system service, so the tool's is used.
  await copyFile(join(root, 'usr', 'bin', 'redis-check-rdb'), serverPath(copy));
  const entries = await readdir(root, { recursive: true });
  const libraries = entries.filter((entry) => /\.so(\.\d+)*$/.test(basename(entry)));
  for (const library of libraries) await copyFile(join(root, library), join(libraryPath(copy), basename(library)));
  return copy;
}
