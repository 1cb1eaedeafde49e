import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type Browser } from 'playwright-core';
import { findChromium } from './find-chromium';
import { PROJECT } from '../project';

/** Makes every host except 127.0.0.1 unreachable, by name and by number. */
const NOTHING_OUTSIDE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
const FLAGS = [
  NOTHING_OUTSIDE,
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Text has the same shape on every machine.
  '--font-render-hinting=none',
];
const OF_A_MAC = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];
const LAUNCH_TIMEOUT_MS = 30_000;

/**
 * Kills the process group `$1` and removes the folders after it. Processes that are being killed may still write into
 * the profile for a while, and so make a removed folder again: the clean-up ends when all folders stayed away for 2 s.
 */
const GUARD = `
group="$1"
shift
cat >/dev/null
away=0
for attempt in $(seq 300); do
  kill -9 -- "-$group" 2>/dev/null
  away=$((away + 1))
  for folder; do
    [ -e "$folder" ] && away=0
  done
  [ "$away" -lt 20 ] || exit
  rm -rf "$@" 2>/dev/null
  sleep 0.1
done
`;

let found: Promise<string> | undefined;

/**
 * Returns the path of the browser program, and installs it if the machine has none. It searches once per process and only
 * on demand, so runs without browser tests install nothing; a lock makes processes share one installation.
 */
export function chromium(): Promise<string> {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  found ??= findChromium({
    path: CHROMIUM_PATH === undefined || CHROMIUM_PATH === '' ? null : CHROMIUM_PATH,
    searchPath: PATH,
    programs: OF_A_MAC,
    cacheFolder: join(PROJECT, '.cache', 'chromium'),
    tell: (sentence) => process.stderr.write(`${sentence}\n`),
  });
  return found;
}

/** A headless Chromium with an empty profile. */
export interface RunningChromium {
  readonly browser: Browser;
  readonly processId: number;
  close(): Promise<void>;
}

/** Starts a Chromium. It ends with this process at the latest, even by SIGKILL. */
export async function launchChromium(): Promise<RunningChromium> {
  const executablePath = await chromium();
  const artifactsDir = await mkdtemp(join(tmpdir(), 'towhook-browser-'));
  const browser = await playwright.launch({
    executablePath,
    artifactsDir,
    args: FLAGS,
    // Containers rarely permit the sandbox, and the browser opens only pages of the tests.
    chromiumSandbox: false,
    timeout: LAUNCH_TIMEOUT_MS,
  });
  const processId = await processIdOf(browser);
  const endGuard = guard(processId, artifactsDir);
  return {
    browser,
    processId,
    async close() {
      await browser.close();
      await rm(artifactsDir, { recursive: true, force: true });
      endGuard();
    },
  };
}

async function processIdOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  const main = processInfo.find(({ type }) => type === 'browser');
  if (main === undefined) throw new Error('Chromium reports no process id');
  return main.id;
}

/**
 * Ends the browser and removes its files when this process ends, even by SIGKILL: a shell reads from a pipe that only
 * this process holds open. Returns a function that ends the shell.
 */
function guard(processId: number, artifactsDir: string): () => void {
  const { group, profile } = startOf(processId);
  const shell = spawn('sh', ['-c', GUARD, 'sh', group, artifactsDir, ...profile], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.unref();
  return () => {
    // Kill the shell first: closing the pipe would end its `cat` and start the clean-up.
    shell.kill('SIGKILL');
    shell.stdin.destroy();
  };
}

/**
 * The process group and the profile of a browser that is running. Read by this process and not by the shell, which may
 * not have begun when the browser ends. The browser need not lead its group: some systems start it by a wrapper script.
 * Without `/proc`, as on a Mac, the browser leads its group and the profile stays.
 */
function startOf(processId: number): { readonly group: string; readonly profile: readonly string[] } {
  const folder = `/proc/${processId}`;
  if (!existsSync(folder)) return { group: String(processId), profile: [] };
  // The name of the program is in brackets and may itself contain spaces and brackets.
  const [, group = String(processId)] = /\) \S+ \d+ (\d+)[^)]*$/.exec(readFileSync(`${folder}/stat`, 'utf8')) ?? [];
  const profile = /(?:^|\0)--user-data-dir=([^\0]+)/.exec(readFileSync(`${folder}/cmdline`, 'utf8'))?.[1];
  return { group, profile: profile === undefined ? [] : [profile] };
}
