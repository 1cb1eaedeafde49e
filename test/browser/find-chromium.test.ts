import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium } from '../support/browser/find-chromium';

/** A machine is a folder of programs; what they do is written down in `$machine/log`. */
let machine: string;
let programs: string;

const CHROMIUM = 'echo "Chromium 150"';
/** Writes down what it is asked, and installs a chromium that works where it may. */
const APT_GET = `
echo "apt-get $*" >>"$machine/log"
case "$*" in
  *--download-only*) for word; do case "$word" in Dir::Cache=*) touch "\${word#Dir::Cache=}/archives/chromium-headless-shell.deb" ;; esac; done ;;
  *install*) sleep 0.2; printf '#!/bin/sh\\n${CHROMIUM}\\n' >"$machine/bin/chromium-headless-shell"; chmod 755 "$machine/bin/chromium-headless-shell" ;;
esac`;
/** Of a system on which nothing can be installed, and packages can be had. */
const APT_GET_OF_OTHERS = `case "$*" in *install*--no-remove*) echo "are you root?" >&2; exit 100 ;; esac ${APT_GET}`;
const DPKG_DEB = `mkdir -p "$3/usr/lib/chromium"; printf '#!/bin/sh\\n${CHROMIUM}\\n' >"$3/usr/lib/chromium/chromium-headless-shell"; chmod 755 "$3/usr/lib/chromium/chromium-headless-shell"`;

beforeEach(async () => {
  machine = await mkdtemp(join(tmpdir(), 'towhook-machine-'));
  programs = join(machine, 'bin');
  await mkdir(programs);
  // Where the tests are not root's they may install by this.
  await program('sudo', 'shift; exec "$@"');
});

afterEach(() => rm(machine, { recursive: true, force: true }));

async function program(name: string, script: string): Promise<string> {
  const path = join(programs, name);
  await writeFile(path, `#!/bin/sh\nmachine='${machine}'\n${script}\n`);
  await chmod(path, 0o755);
  return path;
}

const find = (path: string | null = null) =>
  findChromium({ path, searchPath: programs, programs: [], cacheFolder: join(machine, 'cache'), tell: () => {} });
const log = async () => (await readFile(join(machine, 'log'), 'utf8')).trim().split('\n');

test('the browser search uses only the browser that CHROMIUM_PATH names', async () => {
  await program('chromium', CHROMIUM);
  const named = await program('mine', CHROMIUM);
  expect(await find(named)).toBe(named);
  await expect(find(await program('broken', 'echo oops >&2; exit 1'))).rejects.toThrow(
    'CHROMIUM_PATH names no Chromium that starts: oops',
  );
});

test('the browser search uses an installed browser and skips a stub that only prints how to install one', async () => {
  await program('chromium-browser', 'echo "install the snap" >&2; exit 1');
  const chrome = await program('google-chrome', 'echo "Google Chrome 150"');
  expect(await find()).toBe(chrome);
});

test('the browser search installs a browser once on a machine without one for many concurrent callers', async () => {
  await program('apt-get', APT_GET);
  expect(new Set(await Promise.all([find(), find(), find()]))).toEqual(
    new Set([join(programs, 'chromium-headless-shell')]),
  );
  const calls = await log();
  expect(calls).toHaveLength(2);
  expect(calls[0]).toMatch(/^apt-get .* update$/);
  expect(calls[1]).toMatch(/^apt-get -q -y .*install --no-install-recommends --no-remove .* chromium-headless-shell$/);
});

test('the browser search fetches and keeps a private copy of a browser where nothing can be installed', async () => {
  await program('apt-get', APT_GET_OF_OTHERS);
  await program('dpkg-deb', DPKG_DEB);
  const copy = join(machine, 'cache', 'copy', 'chromium');
  expect(await find()).toBe(copy);
  const { length } = await log();
  expect(await find()).toBe(copy);
  expect(await log()).toHaveLength(length);
});

test('the browser search names every reason and the command to run when no browser can be found', async () => {
  await expect(find()).rejects.toThrow(
    'The tests of the console need a browser: install Chromium (Debian: apt-get install chromium-headless-shell) or Google ' +
      'Chrome, or set CHROMIUM_PATH to one (it could not be fetched: no apt-get here; only Debian offers a private copy).',
  );
});

test('the browser search prefers headless Chromium, which needs half the processor time', async () => {
  await program('chromium', CHROMIUM);
  const shell = await program('chromium-headless-shell', CHROMIUM);
  expect(await find()).toBe(shell);
});
