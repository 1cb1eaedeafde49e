import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium as playwright, type Browser } from 'playwright-core';
import { findChromium } from './find-chromium';

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
 * Kills the process group of the browser and removes its files. The browser need not lead its group: some systems start
 * it by a wrapper script. Processes that are being killed may still write into the profile, so removal is repeated.
 */
const GUARD = `
group="$(cut -d' ' -f5 "/proc/$1/stat" 2>/dev/null)"
profile="$(tr '\\0' '\\n' 2>/dev/null <"/proc/$1/cmdline" | sed -n 's/^--user-data-dir=//p')"
cat >/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do
  kill -9 -- "-\${group:-$1}" 2>/dev/null
  rm -rf "$2" \${profile:+"$profile"} 2>/dev/null
  sleep 0.1
  [ -e "\${profile:-$2}" ] || exit
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
    cacheFolder: join(__dirname, '..', '..', '..', '.cache', 'chromium'),
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
  const shell = spawn('sh', ['-c', GUARD, 'sh', String(processId), artifactsDir], {
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
