import { copyFile, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Log } from '../platform/log/log';
import { withFolderLock } from './folder-lock';
import { checkServer, type ServerBinary, findExecutable, run } from './server-binary';
import { errorMessage } from '../platform/errors';

/** Time to download package lists and packages over a slow network. */
const FETCH_WAIT_MS = 5 * 60_000;

/**
 * Returns the Redis server in `cacheFolder`. Downloads it if it is missing or does not start, such as in a cache from
 * another machine. Several processes may call this at once: one downloads, the others wait.
 *
 * @throws Error with the reason.
 */
export async function privateCopy(
  cacheFolder: string,
  { searchPath, log }: { searchPath: string; log: Log },
): Promise<ServerBinary> {
  const copy = join(cacheFolder, 'server');
  const kept = await checkCopy(copy);
  if (kept !== null) return kept;
  await mkdir(cacheFolder, { recursive: true });
  return withFolderLock({ file: join(cacheFolder, 'lock'), waitMs: FETCH_WAIT_MS }, async () => {
    const fetchedByAnother = await checkCopy(copy);
    if (fetchedByAnother !== null) return fetchedByAnother;
    log.info('redis_copy.started', { folder: cacheFolder });
    await removeLeftovers(cacheFolder);
    const work = await mkdtemp(join(cacheFolder, 'fetch-'));
    try {
      const root = await unpackPackage('redis-tools', work, searchPath);
      const fresh = await assemble(root, join(work, 'server'));
      // A copy is renamed only after it has started once, so that a copy under its name is always complete.
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

/** Removes the files of killed downloads. Under the lock no other download is running. */
async function removeLeftovers(cacheFolder: string): Promise<void> {
  const leftovers = (await readdir(cacheFolder)).filter((name) => name.startsWith('fetch-'));
  for (const name of leftovers) await rm(join(cacheFolder, name), { recursive: true, force: true });
}

/** Copies what the server needs to run: the program, and its libraries in one folder. */
async function assemble(root: string, copy: string): Promise<string> {
  await mkdir(join(copy, 'bin'), { recursive: true });
  await mkdir(libraryPath(copy));
  // redis-server and redis-check-rdb are one program, which behaves by its name. The package of redis-server also
  // installs a system service, so the tool is copied under the name of the server.
  await copyFile(join(root, 'usr', 'bin', 'redis-check-rdb'), serverPath(copy));
  const entries = await readdir(root, { recursive: true });
  const libraries = entries.filter((entry) => /\.so(\.\d+)*$/.test(basename(entry)));
  for (const library of libraries) await copyFile(join(root, library), join(libraryPath(copy), basename(library)));
  return copy;
}

const TIMEOUT_MS = 120_000;
/** Depth of dependencies that are downloaded. */
const DEPTH_MAX = 5;

/** Absolute paths of the package tools of Debian and Ubuntu. */
interface PackageTools {
  readonly aptGet: string;
  readonly dpkgDeb: string;
  readonly dpkgQuery: string;
}

/**
 * Downloads a package and the libraries it needs that are not installed, and unpacks them into `folder/root`. It needs no
 * root rights and does not change the system. `folder` must be empty.
 *
 * @throws Error with the reason: no Debian system, no network, no such package.
 */
async function unpackPackage(name: string, folder: string, searchPath: string): Promise<string> {
  const tools = await packageTools(searchPath);
  const root = join(folder, 'root');
  await mkdir(root);
  const seen = new Set<string>();
  let wanted = [name];
  for (let depth = 0; depth < DEPTH_MAX && wanted.length > 0; depth += 1) {
    const packages = join(folder, `packages-${depth}`);
    await mkdir(packages);
    await download(tools, wanted, { packages, lists: join(folder, 'lists') });
    wanted.forEach((item) => seen.add(item));
    const needed = await unpackAll(tools, packages, root);
    wanted = await notInstalled(
      tools,
      needed.filter((item) => !seen.has(item)),
    );
  }
  return root;
}

async function packageTools(searchPath: string): Promise<PackageTools> {
  const [aptGet, dpkgDeb, dpkgQuery] = await Promise.all(
    ['apt-get', 'dpkg-deb', 'dpkg-query'].map((tool) => findExecutable(tool, searchPath)),
  );
  if (!aptGet || !dpkgDeb || !dpkgQuery) throw new Error('only Debian and Ubuntu offer one (no apt-get here)');
  return { aptGet, dpkgDeb, dpkgQuery };
}

/** Uses the package lists of the system, or downloads separate lists when these are missing or outdated. */
async function download(
  tools: PackageTools,
  names: readonly string[],
  folders: { packages: string; lists: string },
): Promise<void> {
  // Without it, apt-get run by root downloads as a user who may not write into the folder.
  const common = ['-q', '-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=2', '-o', 'Acquire::http::Timeout=20'];
  const fetch = (more: readonly string[]) =>
    run(tools.aptGet, [...common, ...more, 'download', ...names], { folder: folders.packages, timeoutMs: TIMEOUT_MS });
  try {
    await fetch([]);
  } catch {
    const own = ['lists', 'cache'].map((part) => join(folders.lists, part));
    for (const folder of own) await mkdir(join(folder, 'partial'), { recursive: true });
    await mkdir(join(folders.lists, 'cache', 'archives', 'partial'), { recursive: true });
    const where = ['-o', `Dir::State::lists=${own[0]}`, '-o', `Dir::Cache=${own[1]}`];
    const updateProblem = await problemOf(
      run(tools.aptGet, [...common, ...where, '-o', 'APT::Update::Error-Mode=any', 'update'], {
        timeoutMs: TIMEOUT_MS,
      }),
    );
    // One broken source fails the update. The download shows whether the packages are available.
    const problem = await problemOf(fetch(where));
    if (problem !== null) throw new Error([updateProblem, problem].filter((part) => part !== null).join(' '));
  }
}

async function problemOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

/** Unpacks every package in the folder. Returns the names of the libraries that they need. */
async function unpackAll(tools: PackageTools, folder: string, root: string): Promise<readonly string[]> {
  const needed: string[] = [];
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.deb'))) {
    const path = join(folder, file);
    await run(tools.dpkgDeb, ['-x', path, root], { timeoutMs: TIMEOUT_MS });
    const depends = await run(tools.dpkgDeb, ['-f', path, 'Depends'], { timeoutMs: TIMEOUT_MS });
    // `libssl3 (>= 3.0.0), default-mta | mail-transport-agent`: the first name of each, without what follows it.
    needed.push(...depends.split(',').map((item) => item.trim().split(/[\s:|]/)[0] ?? ''));
  }
  // Only libraries are needed to run the program. Some systems have Redis scripting in `lua-` packages.
  return [...new Set(needed)].filter((name) => /^(lib|lua)/.test(name));
}

async function notInstalled(tools: PackageTools, names: readonly string[]): Promise<string[]> {
  const states = await Promise.all(
    names.map(async (name) => {
      try {
        const state = await run(tools.dpkgQuery, ['-W', '-f', '${db:Status-Status}', name], { timeoutMs: TIMEOUT_MS });
        return { name, installed: state.startsWith('installed') };
      } catch {
        return { name, installed: false };
      }
    }),
  );
  return states.filter(({ installed }) => !installed).map(({ name }) => name);
}
