import { errorMessage } from '../../../src/platform/errors';
import { findExecutable, run } from '../../../src/embedded-redis/server-binary';
import { CHROMIUM_PACKAGE } from './apt';
import { installChromium } from './install-chromium';
import { keptCopy, privateChromium } from './private-chromium';

/** Where to look for a browser. */
export interface ChromiumLookup {
  /** `CHROMIUM_PATH`: this one and no other. */
  readonly path: string | null;
  /** Folders to look in, joined as in `PATH`. */
  readonly searchPath: string;
  /** Programs that lie elsewhere. */
  readonly programs: readonly string[];
  /** Where a private copy is kept; its folder need not exist. */
  readonly cacheFolder: string;
  /** Receives one line about each slow step. */
  readonly tell: (sentence: string) => void;
}

/** No browser is available on this machine. The message is one sentence with the fix. */
export class ChromiumNotAvailable extends Error {
  override readonly name = 'ChromiumNotAvailable';
}

const NAMES = [CHROMIUM_PACKAGE, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const START_TIMEOUT_MS = 30_000;

/**
 * A Chromium or Chrome that starts on this machine: the one that was named, else an installed one, else Debian's,
 * installed now where that is allowed (root, or sudo without a password), else a private copy of Debian's in the
 * project's `.cache`, which needs neither root nor an installation. Safe to ask for from several processes at once.
 *
 * @throws ChromiumNotAvailable.
 */
export async function findChromium(lookup: ChromiumLookup): Promise<string> {
  if (lookup.path !== null) return checkNamed(lookup.path);
  const found = (await findInstalled(lookup)) ?? (await keptCopy(lookup.cacheFolder, checkChromium));
  if (found !== null) return found;
  const problems: string[] = [];
  const ways = [
    // Who waited for another's installation finds what that one installed.
    () => installChromium({ ...lookup, findInstalled: () => findInstalled(lookup) }),
    () => privateChromium({ ...lookup, check: checkChromium }),
  ];
  for (const way of ways) {
    try {
      return await way();
    } catch (error) {
      problems.push(errorMessage(error));
    }
  }
  throw new ChromiumNotAvailable(
    `The tests of the console need a browser: install Chromium (Debian: apt-get install ${CHROMIUM_PACKAGE}) or Google Chrome, ` +
      `or set CHROMIUM_PATH to one (it could not be fetched: ${problems.join('; ')}).`,
  );
}

/** Runs the program once; other systems put a stub under its name that only says where to get the real one. */
async function checkChromium(path: string): Promise<string> {
  const answer = await run(path, ['--version'], { timeoutMs: START_TIMEOUT_MS });
  if (!/Chrom(e|ium)/.test(answer)) throw new Error(`${path} is not Chromium`);
  return path;
}

async function checkNamed(path: string): Promise<string> {
  try {
    return await checkChromium(path);
  } catch (error) {
    throw new ChromiumNotAvailable(`CHROMIUM_PATH names no Chromium that starts: ${errorMessage(error)}`);
  }
}

async function findInstalled({ searchPath, programs }: ChromiumLookup): Promise<string | null> {
  const onPath = await Promise.all(NAMES.map((name) => findExecutable(name, searchPath)));
  for (const path of [...onPath, ...programs]) {
    const isThere = path !== null && (await checkChromium(path).catch(() => null)) !== null;
    if (isThere) return path;
  }
  return null;
}
