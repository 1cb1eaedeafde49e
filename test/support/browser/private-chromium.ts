import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFolderLock } from '../../../src/embedded-redis/folder-lock';
import { findExecutable, run } from '../../../src/embedded-redis/server-binary';
import { CHROMIUM_PACKAGE, FETCH_WAIT_MS, QUIET_AND_PATIENT } from './apt';

const FETCH_TIMEOUT_MS = 300_000;
const UNPACK_TIMEOUT_MS = 120_000;

type Check = (path: string) => Promise<string>;

export interface PrivateCopy {
  readonly searchPath: string;
  readonly cacheFolder: string;
  readonly tell: (sentence: string) => void;
  readonly check: Check;
}

/** Starts the copy with its own libraries and fonts; the program itself looks for its data beside itself. */
const LAUNCHER = `#!/bin/sh
here="$(cd "$(dirname "$0")" && pwd)"
libraries="$(find "$here/root" -name '*.so*' -exec dirname {} + | sort -u | tr '\\n' ':')"
export LD_LIBRARY_PATH="\${libraries%:}" FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/root/usr/lib/chromium/${CHROMIUM_PACKAGE}" "$@"
`;

/** Without any font Chromium does not start. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">root/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

const programOf = (cacheFolder: string) => join(cacheFolder, 'copy', 'chromium');

/** The private copy of an earlier run; null when there is none that starts. */
export function keptCopy(cacheFolder: string, check: Check): Promise<string | null> {
  return check(programOf(cacheFolder)).catch(() => null);
}

/**
 * Debian's chromium in `cacheFolder`, with every package it needs that is not installed here, fetched now: without root
 * and without touching the system. One fetches for all who wish it at the time.
 *
 * @throws Error with the reason: no Debian system, no network.
 */
export async function privateChromium(options: PrivateCopy): Promise<string> {
  const { searchPath, cacheFolder, tell, check } = options;
  const [aptGet, dpkgDeb] = await Promise.all(['apt-get', 'dpkg-deb'].map((tool) => findExecutable(tool, searchPath)));
  if (!aptGet || !dpkgDeb) throw new Error('only Debian offers a private copy');
  await mkdir(cacheFolder, { recursive: true });
  return withFolderLock({ file: join(cacheFolder, 'lock'), waitMs: FETCH_WAIT_MS }, async () => {
    const fetchedByAnother = await keptCopy(cacheFolder, check);
    if (fetchedByAnother !== null) return fetchedByAnother;
    tell(`Fetching a private copy of ${CHROMIUM_PACKAGE} for the tests of the console …`);
    await removeLeftovers(cacheFolder);
    const work = await mkdtemp(join(cacheFolder, 'fetch-'));
    try {
      const copy = join(work, 'copy');
      await mkdir(join(copy, 'root'), { recursive: true });
      await download(aptGet, work);
      await unpack(dpkgDeb, join(work, 'cache', 'archives'), join(copy, 'root'));
      await writeFile(join(copy, 'fonts.conf'), FONTS);
      await writeFile(join(copy, 'chromium'), LAUNCHER);
      await chmod(join(copy, 'chromium'), 0o755);
      // A copy is either whole or not there: it gets its name only when it was seen to start.
      await check(join(copy, 'chromium'));
      await rm(join(cacheFolder, 'copy'), { recursive: true, force: true });
      await rename(copy, join(cacheFolder, 'copy'));
    } finally {
      await rm(work, { recursive: true, force: true });
    }
    return check(programOf(cacheFolder));
  });
}

/** Leftovers of a killed download. Under the lock no other process uses them. */
async function removeLeftovers(cacheFolder: string): Promise<void> {
  const leftovers = (await readdir(cacheFolder)).filter((name) => name.startsWith('fetch-'));
  for (const name of leftovers) await rm(join(cacheFolder, name), { recursive: true, force: true });
}

/** With lists and cache of our own: the system's may be missing, out of date, or root's alone. */
async function download(aptGet: string, work: string): Promise<void> {
  const [lists, cache] = [join(work, 'lists'), join(work, 'cache')];
  await mkdir(join(lists, 'partial'), { recursive: true });
  await mkdir(join(cache, 'archives', 'partial'), { recursive: true });
  const ours = ['-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${cache}`, '-o', 'Debug::NoLocking=true'];
  // Root would otherwise download as a user who may not write into the folder, with a warning.
  const common = [...QUIET_AND_PATIENT, ...ours, '-o', 'APT::Sandbox::User=root'];
  await run(aptGet, [...common, 'update'], { timeoutMs: FETCH_TIMEOUT_MS }).catch(() => {});
  const install = ['install', '--no-install-recommends', '--download-only', CHROMIUM_PACKAGE];
  await run(aptGet, [...common, ...install], { timeoutMs: FETCH_TIMEOUT_MS });
}

async function unpack(dpkgDeb: string, packages: string, root: string): Promise<void> {
  const files = (await readdir(packages)).filter((name) => name.endsWith('.deb'));
  for (const file of files) await run(dpkgDeb, ['-x', join(packages, file), root], { timeoutMs: UNPACK_TIMEOUT_MS });
}
